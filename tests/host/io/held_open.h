// A descriptor that a test keeps open.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace cutpoint::tests {

/// Closes the descriptor when it is destroyed, if not before.
class held_open {
 public:
  explicit held_open(int descriptor) : descriptor_(descriptor) { EXPECT_GE(descriptor, 0); }
  held_open(const std::string& path, int flags) : held_open(::open(path.c_str(), flags | O_CLOEXEC)) {}
  held_open(const held_open&) = delete;
  held_open& operator=(const held_open&) = delete;
  ~held_open() { close(); }

  [[nodiscard]] int get() const { return descriptor_; }
  void write(std::string_view bytes) const {
    EXPECT_EQ(::write(descriptor_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_;
};

}  // namespace cutpoint::tests
