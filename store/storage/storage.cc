// What a storage does unless its class does better.
#include <utility>

#include <cutpoint/storage.h>

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

result<std::uint64_t> storage::free_bytes() { return UINT64_MAX; }

result<std::unique_ptr<object_reader>> storage::open(const object_name& name) {
  const auto bytes = size(name);
  if (!bytes) return bytes.error();
  return std::unique_ptr<object_reader>(std::make_unique<ranged_reader>(*this, name, *bytes));
}

}  // namespace cutpoint::store
