// Secrets of chunkers: their memory, which core dumps leave out and which is erased before it is freed, and the AES-256-CTR
// key stream with IV 0, from which gear tables and other secrets are drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace cutpoint {

/// Returns zeroed pages. Throws std::bad_alloc.
[[nodiscard]] void* allocate_secret_pages(std::size_t byte_count);
/// Erases and frees them.
void free_secret_pages(void* pages, std::size_t byte_count) noexcept;

/// Makes an object of zero bytes in pages of its own. Throws std::bad_alloc.
template <class Secret>
requires std::is_trivially_copyable_v<Secret> && std::is_trivially_destructible_v<Secret>
[[nodiscard]] std::shared_ptr<Secret> make_secret() {
  return {static_cast<Secret*>(allocate_secret_pages(sizeof(Secret))),
          [](Secret* secret) { free_secret_pages(secret, sizeof(Secret)); }};
}

/// Allocates the elements of a container in such pages.
template <class T>
struct secret_allocator {
  using value_type = T;

  [[nodiscard]] T* allocate(std::size_t count) { return static_cast<T*>(allocate_secret_pages(count * sizeof(T))); }
  void deallocate(T* elements, std::size_t count) noexcept { free_secret_pages(elements, count * sizeof(T)); }
  friend bool operator==(const secret_allocator&, const secret_allocator&) noexcept { return true; }
};

/// Fills `stream` with the beginning of the key stream. Returns false if OpenSSL has no AES-256-CTR; `stream` is
/// unspecified then.
[[nodiscard]] bool fill_aes256_ctr_keystream(std::span<const std::uint8_t, 32> key,
                                             std::span<std::uint8_t> stream) noexcept;

/// Returns the little-endian word that begins at byte `first` of a key stream.
[[nodiscard]] inline std::uint64_t keystream_word(std::span<const std::uint8_t> stream, std::size_t first) noexcept {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < sizeof word; ++i) word |= std::uint64_t{stream[first + i]} << (8 * i);
  return word;
}

}  // namespace cutpoint
