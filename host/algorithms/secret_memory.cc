#include "host/algorithms/secret_memory.h"

#include <new>

#include <openssl/crypto.h>
#include <sys/mman.h>

namespace cutpoint {

void* allocate_secret_pages(std::size_t byte_count) {
  void* const pages = ::mmap(nullptr, byte_count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  ::madvise(pages, byte_count, MADV_DONTDUMP);  // Linux has it since 3.4, for every anonymous page
  return pages;
}

void free_secret_pages(void* pages, std::size_t byte_count) noexcept {
  OPENSSL_cleanse(pages, byte_count);
  ::munmap(pages, byte_count);
}

}  // namespace cutpoint
