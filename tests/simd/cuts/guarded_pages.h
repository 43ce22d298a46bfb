// Bytes between two pages that cannot be accessed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>

#include <sys/mman.h>
#include <unistd.h>

namespace cutpoint::tests {

class guarded_pages {
 public:
  explicit guarded_pages(std::size_t pages) : size_((pages + 2) * page_bytes()) {
    void* const mapped = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    begin_ = static_cast<std::uint8_t*>(mapped);
    if (mprotect(bytes().data(), bytes().size(), PROT_READ | PROT_WRITE) != 0) {
      throw std::system_error(errno, std::generic_category(), "mprotect");
    }
  }
  ~guarded_pages() { munmap(begin_, size_); }
  guarded_pages(const guarded_pages&) = delete;
  guarded_pages& operator=(const guarded_pages&) = delete;

  [[nodiscard]] std::span<std::uint8_t> bytes() const { return {begin_ + page_bytes(), size_ - 2 * page_bytes()}; }

 private:
  static std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

  std::uint8_t* begin_ = nullptr;
  std::size_t size_;
};

}  // namespace cutpoint::tests
