// A storage of one's own: its objects are in memory, and gone with the last storage. One for an object store or a data base has the same
// functions, whose contract are the comments of cutpoint/storage.h; contract_test.cc tests it.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cutpoint/storage.h>

namespace examples {

using cutpoint::result;
using cutpoint::status;
namespace store = cutpoint::store;

/// Objects in memory, which all storages of a store share.
struct object_map {
  std::mutex mutex;
  std::map<store::object_name, std::vector<std::uint8_t>> objects;
  std::size_t puts_until_full = SIZE_MAX;
};

class memory_storage final : public store::storage {
 public:
  explicit memory_storage(std::shared_ptr<object_map> shared) : shared_(std::move(shared)) {}

  /// Puts if absent, as one step. A failure is remembered, because the session must not commit after it.
  status put(const store::object_name& name, std::vector<std::uint8_t> bytes) override {
    const std::lock_guard lock(shared_->mutex);
    if (!failure_.ok()) return failure_;
    if (shared_->puts_until_full == 0) {
      failure_ = failure(name, "no room", ENOSPC);
    } else if (!shared_->objects.try_emplace(name, std::move(bytes)).second) {
      failure_ = failure(name, "is there", EEXIST);
    } else {
      --shared_->puts_until_full;
    }
    return failure_;
  }
  status remove(const store::object_name& name) override {
    const std::lock_guard lock(shared_->mutex);
    shared_->objects.erase(name);
    return {};
  }
  /// All puts have taken effect, so there is nothing to wait for.
  status sync() override {
    const std::lock_guard lock(shared_->mutex);
    return failure_;
  }
  result<std::uint64_t> size(const store::object_name& name) override {
    const std::lock_guard lock(shared_->mutex);
    const auto position = shared_->objects.find(name);
    if (position == shared_->objects.end()) return failure(name, "is absent", ENOENT);
    return std::uint64_t{position->second.size()};
  }
  status read(const store::object_name& name, std::uint64_t offset, std::span<std::uint8_t> destination) override {
    const std::lock_guard lock(shared_->mutex);
    const auto position = shared_->objects.find(name);
    if (position == shared_->objects.end()) return failure(name, "is absent", ENOENT);
    const std::vector<std::uint8_t>& bytes = position->second;
    if (offset > bytes.size() || destination.size() > bytes.size() - offset)
      return failure(name, "is too short", EBADMSG);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), destination.size(), destination.begin());
    return {};
  }
  result<std::vector<std::string>> list(store::object_kind kind, std::string_view prefix) override {
    const std::lock_guard lock(shared_->mutex);
    std::vector<std::string> ids;
    for (const auto& [name, bytes] : shared_->objects) {
      if (name.kind == kind && name.id.starts_with(prefix)) ids.push_back(name.id);
    }
    return ids;
  }

 private:
  static status failure(const store::object_name& name, std::string_view what, int system_error) {
    return {cutpoint::status_code::io_error, store::path_of(name) + ": " + std::string(what), system_error};
  }

  std::shared_ptr<object_map> shared_;
  status failure_;
};

/// What `backup_store::create` and `open` take: it opens storages of the same objects.
inline store::storage_opener memory_opener(std::shared_ptr<object_map> shared = std::make_shared<object_map>()) {
  return [shared](const std::string&, std::size_t) { return std::make_unique<memory_storage>(shared); };
}

}  // namespace examples
