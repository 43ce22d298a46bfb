// The memory that all feeds of an engine may hold together.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <utility>

namespace cutpoint {

/// Thread-safe.
class memory_budget {
 public:
  /// Gives back what it has reserved when it is destroyed. The budget must outlive it.
  class reservation {
   public:
    reservation() = default;
    reservation(memory_budget& budget, std::uint64_t bytes) : budget_(&budget), bytes_(bytes) {}
    reservation(reservation&& other) noexcept : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
    reservation& operator=(reservation&&) = delete;
    ~reservation() {
      if (budget_ != nullptr) budget_->used_bytes_ -= bytes_;
    }

   private:
    memory_budget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  /// 0 is no limit.
  explicit memory_budget(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  memory_budget(const memory_budget&) = delete;
  memory_budget& operator=(const memory_budget&) = delete;

  [[nodiscard]] bool is_limited() const noexcept { return limit_bytes_ != 0; }
  [[nodiscard]] std::uint64_t limit_bytes() const noexcept { return limit_bytes_; }
  [[nodiscard]] std::uint64_t available_bytes() const noexcept {
    return is_limited() ? limit_bytes_ - used_bytes_ : std::numeric_limits<std::uint64_t>::max();
  }

  /// Returns false if another thread has reserved too much meanwhile.
  [[nodiscard]] bool reserve(std::uint64_t bytes) noexcept {
    std::uint64_t used = used_bytes_;
    do {
      if (is_limited() && bytes > limit_bytes_ - used) return false;
    } while (!used_bytes_.compare_exchange_weak(used, used + bytes));
    return true;
  }

 private:
  const std::uint64_t limit_bytes_;
  std::atomic<std::uint64_t> used_bytes_ = 0;
};

}  // namespace cutpoint
