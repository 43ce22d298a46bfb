// Bytes between two pages that may not be touched, so that a read before or after them ends the test.
#pragma once

#include <cstdint>
#include <new>
#include <span>

#include <sys/mman.h>
#include <unistd.h>

namespace cutpoint::tests {

class guarded_bytes {
 public:
  /// A whole number of pages, at least `size`.
  explicit guarded_bytes(std::size_t size)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), size_((size + page_ - 1) / page_ * page_) {
    void* all = mmap(nullptr, size_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    first_ = static_cast<std::uint8_t*>(all) + page_;
    if (mprotect(first_, size_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  }
  guarded_bytes(const guarded_bytes&) = delete;
  guarded_bytes& operator=(const guarded_bytes&) = delete;
  ~guarded_bytes() { munmap(first_ - page_, size_ + 2 * page_); }

  [[nodiscard]] std::span<std::uint8_t> bytes() const { return {first_, size_}; }

 private:
  std::size_t page_;
  std::size_t size_;
  std::uint8_t* first_;
};

}  // namespace cutpoint::tests
