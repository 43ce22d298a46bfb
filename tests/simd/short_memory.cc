#include "tests/simd/short_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <optional>

#include <openssl/crypto.h>

namespace {

constexpr std::size_t usual_alignment = alignof(std::max_align_t);

/// How many allocations are granted before all are refused; nothing: all are.
std::optional<std::uint64_t> granted;
bool was_refused = false;

bool refuses() noexcept {
  if (!granted) return false;
  if (*granted == 0) {
    was_refused = true;
    return true;
  }
  --*granted;
  return false;
}

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (refuses()) return nullptr;
  const std::size_t rounded = (std::max<std::size_t>(1, size) + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, rounded);
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  void* const made = allocate(size, alignment);
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

void* openssl_allocate(std::size_t size, const char*, int) { return allocate(size, usual_alignment); }
void* openssl_reallocate(void* bytes, std::size_t size, const char*, int) {
  return refuses() ? nullptr : std::realloc(bytes, size);
}
void openssl_free(void* bytes, const char*, int) { std::free(bytes); }

}  // namespace

void* operator new(std::size_t size) { return allocate_or_throw(size, usual_alignment); }
void* operator new[](std::size_t size) { return allocate_or_throw(size, usual_alignment); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, usual_alignment); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, usual_alignment); }
void* operator new(std::size_t size, std::align_val_t to) { return allocate_or_throw(size, std::size_t(to)); }
void* operator new[](std::size_t size, std::align_val_t to) { return allocate_or_throw(size, std::size_t(to)); }
void operator delete(void* bytes) noexcept { std::free(bytes); }
void operator delete[](void* bytes) noexcept { std::free(bytes); }
void operator delete(void* bytes, std::size_t) noexcept { std::free(bytes); }
void operator delete[](void* bytes, std::size_t) noexcept { std::free(bytes); }
void operator delete(void* bytes, std::align_val_t) noexcept { std::free(bytes); }
void operator delete[](void* bytes, std::align_val_t) noexcept { std::free(bytes); }
void operator delete(void* bytes, std::size_t, std::align_val_t) noexcept { std::free(bytes); }
void operator delete[](void* bytes, std::size_t, std::align_val_t) noexcept { std::free(bytes); }

namespace cutpoint::tests {

short_memory::short_memory(std::uint64_t granted_count) {
  was_refused = false;
  granted = granted_count;
}
short_memory::~short_memory() { granted.reset(); }

bool short_memory::has_refused() { return was_refused; }

bool short_memory::take_over_openssl() {
  return CRYPTO_set_mem_functions(openssl_allocate, openssl_reallocate, openssl_free) == 1;
}

}  // namespace cutpoint::tests
