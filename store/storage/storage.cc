// What a storage does unless its class does better.
#include <mutex>
#include <optional>
#include <utility>

#include <cutpoint/storage.h>

#include "host/core/parallel.h"
#include "store/format/clock.h"
#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

class buffering_writer final : public object_writer {
 public:
  buffering_writer(storage& owner, object_name name) : owner_(owner), name_(std::move(name)) {}
  status append(byte_span bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return {};
  }
  status finish() override { return owner_.put(name_, std::move(bytes_)); }

 private:
  storage& owner_;
  object_name name_;
  std::vector<std::uint8_t> bytes_;
};

class ranged_reader final : public object_reader {
 public:
  ranged_reader(storage& owner, object_name name, std::uint64_t size)
      : owner_(owner), name_(std::move(name)), size_(size) {}
  std::uint64_t size() const noexcept override { return size_; }
  status read(std::uint64_t offset, std::span<std::uint8_t> destination) const override {
    return owner_.read(name_, offset, destination);
  }

 private:
  storage& owner_;
  object_name name_;
  std::uint64_t size_;
};

}  // namespace

result<std::unique_ptr<object_writer>> storage::create(const object_name& name) {
  return std::unique_ptr<object_writer>(std::make_unique<buffering_writer>(*this, name));
}

status storage::sync_kind(object_kind, std::string_view) { return {}; }

result<bool> storage::survives_power_cuts() { return true; }

result<std::uint64_t> storage::free_bytes() { return UINT64_MAX; }

bool storage::may_remove(object_kind) { return true; }

std::size_t storage::parallel_requests() const noexcept { return 1; }

std::int64_t storage::now() { return nanoseconds_now(); }

result<std::vector<std::uint8_t>> storage::read_whole(const object_name& name, std::uint64_t limit) {
  CUTPOINT_TRY(const auto length, size(name));
  if (length > limit) return damage(path_of(name), "it is too long");
  std::vector<std::uint8_t> bytes(length);
  CUTPOINT_RETURN_IF_FAILED(read(name, 0, bytes));
  return bytes;
}

status storage::read_many(std::span<const object_name> names, std::uint64_t limit,
                          const whole_object_function& receive) {
  std::mutex mutex;
  return try_parallel(parallel_requests(), names.size(), [&](std::size_t, std::size_t i) {
    auto bytes = read_whole(names[i], limit);
    const std::lock_guard lock(mutex);
    return receive(i, std::move(bytes));
  });
}

result<std::vector<listed_object>> storage::list_details(object_kind kind, std::string_view prefix) {
  CUTPOINT_TRY(auto ids, list(kind, prefix));
  std::vector<std::optional<listed_object>> present(ids.size());
  CUTPOINT_RETURN_IF_FAILED(try_parallel(parallel_requests(), ids.size(), [&](std::size_t, std::size_t i) -> status {
    const auto bytes = size({kind, ids[i]});
    if (bytes) present[i] = listed_object{std::move(ids[i]), *bytes, 0};
    return bytes || is_absence(bytes.error()) ? status() : bytes.error();
  }));
  std::vector<listed_object> objects;
  for (std::optional<listed_object>& each : present) {
    if (each) objects.push_back(*std::move(each));
  }
  return objects;
}

result<std::unique_ptr<object_reader>> storage::open(const object_name& name, std::uint64_t) {
  CUTPOINT_TRY(const auto bytes, size(name));
  return std::unique_ptr<object_reader>(std::make_unique<ranged_reader>(*this, name, bytes));
}

}  // namespace cutpoint::store
