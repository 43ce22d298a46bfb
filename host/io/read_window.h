// The ring of memory for blocks that are read ahead. Blocks are given back in the order in which they were taken.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <optional>
#include <span>

#include <sys/mman.h>

namespace cutpoint {

/// Allocates page-aligned blocks from a ring. They are given back in the order in which they were taken. Not
/// thread-safe.
class read_window {
 public:
  /// Reserves the memory without touching its pages. Throws std::bad_alloc.
  explicit read_window(std::uint64_t bytes) : size_(bytes / page * page) {
    void* mapped = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<std::uint8_t*>(mapped);
  }
  read_window(const read_window&) = delete;
  read_window& operator=(const read_window&) = delete;
  ~read_window() { ::munmap(begin_, size_); }

  /// A block of memory, and the bytes of the ring that it occupies.
  struct block {
    std::span<std::uint8_t> room;
    std::uint64_t held_bytes = 0;
  };

  /// Takes a block of `bytes` bytes. Returns nullopt if the ring has too little free memory.
  [[nodiscard]] std::optional<block> take(std::uint64_t bytes) {
    const std::uint64_t size = (bytes + page - 1) / page * page;
    const std::uint64_t at = end_ % size_;
    const std::uint64_t passed = at + size > size_ ? size_ - at : 0;  // the unused bytes at the ring's end
    if (size > size_ || used_bytes() + passed + size > size_) return std::nullopt;
    end_ += passed + size;
    most_held_ = std::max(most_held_, used_bytes());
    return block{{begin_ + (end_ - size) % size_, bytes}, passed + size};
  }

  /// Gives back the oldest block.
  void give_back(const block& oldest) { given_back_ += oldest.held_bytes; }

  [[nodiscard]] std::uint64_t used_bytes() const { return end_ - given_back_; }
  [[nodiscard]] std::uint64_t most_held() const { return most_held_; }

 private:
  static constexpr std::uint64_t page = 4096;

  std::uint64_t size_;
  std::uint8_t* begin_ = nullptr;
  std::uint64_t end_ = 0;         ///< bytes taken in total; modulo the size, the position in the ring
  std::uint64_t given_back_ = 0;  ///< bytes of these that were given back
  std::uint64_t most_held_ = 0;
};

}  // namespace cutpoint
