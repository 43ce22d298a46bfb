// A storage that forgets what is put: for dry runs and benchmarks.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cutpoint/storage.h>

namespace cutpoint::store {

/// Has the objects of another storage, and changes nothing of them; or nothing of one kind. Thread-safe.
class discarding_storage final : public storage {
 public:
  /// `objects` must outlive the storage.
  explicit discarding_storage(storage& objects, std::optional<object_kind> kind = std::nullopt) noexcept
      : objects_(objects), kind_(kind) {}

  status put(const object_name& name, std::vector<std::uint8_t> bytes) override {
    return discards(name) ? status() : objects_.put(name, std::move(bytes));
  }
  result<std::unique_ptr<object_writer>> create(const object_name& name) override {
    return discards(name) ? storage::create(name) : objects_.create(name);
  }
  status remove(const object_name& name) override { return discards(name) ? status() : objects_.remove(name); }
  status sync() override { return kind_ ? objects_.sync() : status(); }

  result<std::uint64_t> size(const object_name& name) override { return objects_.size(name); }
  status read(const object_name& name, std::uint64_t offset, std::span<std::uint8_t> destination) override {
    return objects_.read(name, offset, destination);
  }
  result<std::unique_ptr<object_reader>> open(const object_name& name) override { return objects_.open(name); }
  result<std::vector<std::string>> list(object_kind kind, std::string_view prefix) override {
    return objects_.list(kind, prefix);
  }

 private:
  [[nodiscard]] bool discards(const object_name& name) const noexcept { return !kind_ || name.kind == *kind_; }

  storage& objects_;
  std::optional<object_kind> kind_;
};

}  // namespace cutpoint::store
