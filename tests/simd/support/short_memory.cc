#include "tests/simd/support/short_memory.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <openssl/crypto.h>

namespace {

constexpr std::size_t usual_alignment = alignof(std::max_align_t);

/// The allocations that are refused, counted from the first one after memory became short.
std::uint64_t first_refused = 0;
std::uint64_t refused_in_a_row = 0;
std::atomic<bool> is_short = false;  ///< the numbers above do not change while it is true
std::atomic<std::uint64_t> asked = 0;
std::atomic<bool> was_refused = false;

bool refuses() noexcept {
  if (!is_short.load(std::memory_order_acquire)) return false;
  const std::uint64_t number = asked.fetch_add(1, std::memory_order_relaxed);
  if (number < first_refused || number - first_refused >= refused_in_a_row) return false;
  was_refused.store(true, std::memory_order_relaxed);
  return true;
}

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (refuses()) return nullptr;
  const std::size_t rounded = (std::max<std::size_t>(1, size) + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, rounded);
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  void* const memory = allocate(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

/// Not inlined: GCC would see `free` get what `new` has returned, and warn.
[[gnu::noinline]] void release(void* bytes) noexcept { std::free(bytes); }

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
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, std::size_t(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, std::size_t(alignment));
}
void operator delete(void* bytes) noexcept { release(bytes); }
void operator delete[](void* bytes) noexcept { release(bytes); }
void operator delete(void* bytes, std::size_t) noexcept { release(bytes); }
void operator delete[](void* bytes, std::size_t) noexcept { release(bytes); }
void operator delete(void* bytes, std::align_val_t) noexcept { release(bytes); }
void operator delete[](void* bytes, std::align_val_t) noexcept { release(bytes); }
void operator delete(void* bytes, std::size_t, std::align_val_t) noexcept { release(bytes); }
void operator delete[](void* bytes, std::size_t, std::align_val_t) noexcept { release(bytes); }

namespace cutpoint::tests {

short_memory::short_memory(std::uint64_t granted_count, std::uint64_t refused_count) {
  was_refused = false;
  asked = 0;
  first_refused = granted_count;
  refused_in_a_row = refused_count;
  is_short.store(true, std::memory_order_release);
}
short_memory::~short_memory() { is_short.store(false, std::memory_order_release); }

bool short_memory::has_refused() { return was_refused; }

bool short_memory::take_over_openssl() {
  return CRYPTO_set_mem_functions(openssl_allocate, openssl_reallocate, openssl_free) == 1;
}

}  // namespace cutpoint::tests
