// A storage in memory that is far away: it counts requests, by kind of call and object, and how many wait for each other. It may
// refuse removals, has a clock of its own, and can be cut off, as a process that is killed is.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <cutpoint/storage.h>
#include <cutpoint/store.h>
#include <fmt/format.h>

#include "examples/storage/memory_storage.h"

namespace cutpoint::tests {

/// What all storages of a place have in common. Thread-safe, except what a test sets.
class far_place {
 public:
  /// A request takes so long, so that those of several threads overlap.
  std::chrono::microseconds delay{0};
  std::size_t parallel_requests = 1;
  std::set<store::object_kind> refused_removals;
  std::int64_t clock_offset = 0;  ///< of the storage's clock, in nanoseconds
  /// After so many changes nothing that is asked has an effect any more.
  std::size_t changes_until_cut_off = SIZE_MAX;
  /// Is called before each put: another process may do something then.
  std::function<void(const store::object_name& name)> before_put;

  const std::shared_ptr<examples::object_map> objects = std::make_shared<examples::object_map>();

  /// Notes a request, and returns when it has been answered.
  void note(const char* call, store::object_kind kind) {
    std::uint64_t begin = 0;
    {
      const std::lock_guard lock(mutex_);
      ++counts_[fmt::format("{} {}", call, kind == store::object_kind::config ? "config" : folder_of(kind))];
      begin = rounds_;
    }
    if (delay.count() != 0) std::this_thread::sleep_for(delay);
    const std::lock_guard lock(mutex_);
    rounds_ = std::max(rounds_, begin + 1);
  }
  /// Returns whether a change takes effect.
  [[nodiscard]] bool may_change() {
    const std::lock_guard lock(mutex_);
    if (changes_until_cut_off == 0) return false;
    --changes_until_cut_off;
    return true;
  }
  [[nodiscard]] bool is_cut_off() {
    const std::lock_guard lock(mutex_);
    return changes_until_cut_off == 0;
  }

  struct requests {
    std::map<std::string, std::uint64_t> counts;  ///< by call and folder, such as "read shards"
    /// How many waited for the answer of another: an upper bound, since threads may begin late.
    std::uint64_t rounds = 0;

    [[nodiscard]] std::uint64_t count(std::string_view begin = {}) const {
      std::uint64_t sum = 0;
      for (const auto& [what, count] : counts) sum += what.starts_with(begin) ? count : 0;
      return sum;
    }
    [[nodiscard]] std::string text() const {
      std::string text = fmt::format("{} requests, {} rounds:", count(), rounds);
      for (const auto& [what, count] : counts) text += fmt::format(" {} {},", count, what);
      return text;
    }
  };
  /// Returns what was asked since the last call.
  requests take_requests() {
    const std::lock_guard lock(mutex_);
    return {std::exchange(counts_, {}), std::exchange(rounds_, 0)};
  }
  /// Returns how many objects of a kind there are.
  [[nodiscard]] std::size_t count(store::object_kind kind) const {
    const std::lock_guard lock(objects->mutex);
    return static_cast<std::size_t>(
        std::ranges::count_if(objects->objects, [&](const auto& each) { return each.first.kind == kind; }));
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> counts_;
  std::uint64_t rounds_ = 0;
};

class far_storage final : public store::storage {
 public:
  explicit far_storage(std::shared_ptr<far_place> place) : place_(std::move(place)), objects_(place_->objects) {}

  status put(const store::object_name& name, std::vector<std::uint8_t> bytes) override {
    if (place_->before_put) place_->before_put(name);
    place_->note("put", name.kind);
    if (!place_->may_change()) return cut_off(name);
    const std::lock_guard lock(mutex_);
    return failure_.ok() ? objects_.put(name, std::move(bytes)) : failure_;
  }
  status remove(const store::object_name& name) override {
    place_->note("remove", name.kind);
    if (!place_->may_change()) return cut_off(name);
    const std::lock_guard lock(mutex_);
    if (place_->refused_removals.contains(name.kind) && failure_.ok()) {
      failure_ = {status_code::io_error, store::path_of(name) + ": refused", EACCES};
    }
    return failure_.ok() ? objects_.remove(name) : failure_;
  }
  bool may_remove(store::object_kind kind) override { return !place_->refused_removals.contains(kind); }
  status sync() override {
    if (place_->is_cut_off()) return cut_off({store::object_kind::config, "sync"});
    const std::lock_guard lock(mutex_);
    return failure_.ok() ? objects_.sync() : failure_;
  }
  result<std::uint64_t> size(const store::object_name& name) override {
    place_->note("size", name.kind);
    return objects_.size(name);
  }
  status read(const store::object_name& name, std::uint64_t offset, std::span<std::uint8_t> destination) override {
    place_->note("read", name.kind);
    return objects_.read(name, offset, destination);
  }
  result<std::vector<std::uint8_t>> read_whole(const store::object_name& name, std::uint64_t limit) override {
    place_->note("read", name.kind);
    return objects_.read_whole(name, limit);
  }
  result<std::unique_ptr<store::object_reader>> open(const store::object_name& name,
                                                     std::uint64_t last_bytes) override {
    place_->note("open", name.kind);
    CUTPOINT_TRY(const auto length, objects_.size(name));
    std::vector<std::uint8_t> end(std::min(length, last_bytes));
    CUTPOINT_RETURN_IF_FAILED(objects_.read(name, length - end.size(), end));
    return std::unique_ptr<store::object_reader>(std::make_unique<reader>(*this, name, length, std::move(end)));
  }
  result<std::vector<std::string>> list(store::object_kind kind, std::string_view prefix) override {
    place_->note("list", kind);
    return objects_.list(kind, prefix);
  }
  result<std::vector<store::listed_object>> list_details(store::object_kind kind, std::string_view prefix) override {
    place_->note("list", kind);
    return objects_.list_details(kind, prefix);
  }
  std::size_t parallel_requests() const noexcept override { return place_->parallel_requests; }
  std::int64_t now() override { return objects_.now() + place_->clock_offset; }

 private:
  /// Has the end of an object, as a far storage sends it with the answer.
  class reader final : public store::object_reader {
   public:
    reader(far_storage& owner, store::object_name name, std::uint64_t size, std::vector<std::uint8_t> end)
        : owner_(owner), name_(std::move(name)), size_(size), end_(std::move(end)) {}
    std::uint64_t size() const noexcept override { return size_; }
    status read(std::uint64_t offset, std::span<std::uint8_t> destination) const override {
      const std::uint64_t begin = size_ - end_.size();
      if (offset < begin || offset > size_ || destination.size() > size_ - offset) {
        return owner_.read(name_, offset, destination);
      }
      std::copy_n(end_.begin() + static_cast<std::ptrdiff_t>(offset - begin), destination.size(), destination.begin());
      return {};
    }

   private:
    far_storage& owner_;
    store::object_name name_;
    std::uint64_t size_;
    std::vector<std::uint8_t> end_;
  };

  static status cut_off(const store::object_name& name) {
    return {status_code::io_error, store::path_of(name) + ": cut off", EIO};
  }

  std::shared_ptr<far_place> place_;
  examples::memory_storage objects_;
  std::mutex mutex_;
  status failure_;  ///< of a removal; it stays
};

inline store::storage_opener far_opener(std::shared_ptr<far_place> place) {
  return [place = std::move(place)](const std::string&, std::size_t) { return std::make_unique<far_storage>(place); };
}

}  // namespace cutpoint::tests
