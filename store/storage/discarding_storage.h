// A storage that nothing is written to: for dry runs.
#pragma once

#include <string_view>
#include <vector>

#include <cutpoint/storage.h>

namespace cutpoint::store {

/// Has the objects of another storage, and forgets what is put. Thread-safe.
class discarding_storage final : public storage {
 public:
  /// `objects` must outlive the storage.
  explicit discarding_storage(storage& objects) noexcept : objects_(objects) {}

  status put(const object_name&, std::vector<std::uint8_t>) override { return {}; }
  status remove(const object_name&) override { return {}; }
  status sync() override { return {}; }

  result<std::uint64_t> size(const object_name& name) override { return objects_.size(name); }
  status read(const object_name& name, std::uint64_t offset, std::span<std::uint8_t> destination) override {
    return objects_.read(name, offset, destination);
  }
  result<std::unique_ptr<object_reader>> open(const object_name& name) override { return objects_.open(name); }
  result<std::vector<std::string>> list(object_kind kind, std::string_view prefix) override {
    return objects_.list(kind, prefix);
  }

 private:
  storage& objects_;
};

}  // namespace cutpoint::store
