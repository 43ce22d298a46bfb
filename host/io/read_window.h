// The memory of what is read ahead: a ring, since what is read first goes first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <optional>
#include <span>

#include <sys/mman.h>

namespace cutpoint {

/// Page-aligned room for blocks, given back in the order in which it was taken. One thread at a time.
class read_window {
 public:
  /// Touches no page of it yet. Throws std::bad_alloc.
  explicit read_window(std::uint64_t bytes) : size_(bytes / page * page) {
    void* mapped = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<std::uint8_t*>(mapped);
  }
  read_window(const read_window&) = delete;
  read_window& operator=(const read_window&) = delete;
  ~read_window() { ::munmap(begin_, size_); }

  /// Room, and what it costs of the window.
  struct block {
    std::span<std::uint8_t> room;
    std::uint64_t held_bytes = 0;
  };

  /// Nothing when it does not fit beside what is held.
  [[nodiscard]] std::optional<block> take(std::uint64_t bytes) {
    const std::uint64_t size = (bytes + page - 1) / page * page;
    const std::uint64_t at = end_ % size_;
    const std::uint64_t passed = at + size > size_ ? size_ - at : 0;  // what is left at the ring's end
    if (size > size_ || held() + passed + size > size_) return std::nullopt;
    end_ += passed + size;
    most_held_ = std::max(most_held_, held());
    return block{{begin_ + (end_ - size) % size_, bytes}, passed + size};
  }

  /// The oldest block.
  void give_back(const block& oldest) { given_back_ += oldest.held_bytes; }

  [[nodiscard]] std::uint64_t held() const { return end_ - given_back_; }
  [[nodiscard]] std::uint64_t most_held() const { return most_held_; }

 private:
  static constexpr std::uint64_t page = 4096;

  std::uint64_t size_;
  std::uint8_t* begin_ = nullptr;
  std::uint64_t end_ = 0;         ///< of all that was taken; the position in the ring is what is left of it by its size
  std::uint64_t given_back_ = 0;  ///< of it
  std::uint64_t most_held_ = 0;
};

}  // namespace cutpoint
