// A storage that passes its calls on to another one, for tests that watch or change some of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cutpoint/storage.h>

namespace cutpoint::tests {

/// `target` must outlive it.
class forwarding_storage : public store::storage {
 public:
  explicit forwarding_storage(store::storage& target) noexcept : target_(target) {}

  status put(const store::object_name& name, std::vector<std::uint8_t> bytes) override {
    return target_.put(name, std::move(bytes));
  }
  status remove(const store::object_name& name) override { return target_.remove(name); }
  status sync() override { return target_.sync(); }
  result<std::uint64_t> size(const store::object_name& name) override { return target_.size(name); }
  status read(const store::object_name& name, std::uint64_t offset, std::span<std::uint8_t> destination) override {
    return target_.read(name, offset, destination);
  }
  result<std::vector<std::string>> list(store::object_kind kind, std::string_view prefix) override {
    return target_.list(kind, prefix);
  }

 private:
  store::storage& target_;
};

}  // namespace cutpoint::tests
