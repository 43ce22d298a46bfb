// A file descriptor with an owner.
#pragma once

#include <cerrno>
#include <utility>

#include <unistd.h>

namespace cutpoint {

/// A descriptor that is closed when it is destroyed.
class owned_descriptor {
 public:
  explicit owned_descriptor(int descriptor = -1) noexcept : descriptor_(descriptor) {}
  owned_descriptor(owned_descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  owned_descriptor& operator=(owned_descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~owned_descriptor() { static_cast<void>(close()); }

  [[nodiscard]] int get() const noexcept { return descriptor_; }
  /// Closes it now, unless it is invalid. Returns 0 or an errno, by which a network file system says what it could not store.
  [[nodiscard]] int close() noexcept {
    const int closed = std::exchange(descriptor_, -1);
    return closed >= 0 && ::close(closed) != 0 && errno != EINTR ? errno : 0;
  }

 private:
  int descriptor_;
};

}  // namespace cutpoint
