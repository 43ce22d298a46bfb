// Memory for secrets, which core dumps leave out and which is erased before it is freed.
#pragma once

#include <cstddef>
#include <memory>
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

}  // namespace cutpoint
