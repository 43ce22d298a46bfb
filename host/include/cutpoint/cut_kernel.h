// The interface of cut kernels, which replace the loop of an algorithm's reference by a faster one.
#pragma once

#include <cstdint>
#include <string_view>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Finds the same cuts as the reference of one chunker. A cut kernel is immutable. Any thread may call any member at
/// any time.
class cut_kernel {
 public:
  virtual ~cut_kernel() = default;

  /// Returns the length in bytes of the chunk that begins at `start`, which is less than `bytes.size()`. The stream
  /// ends with `bytes`. Reads no byte outside `bytes`.
  [[nodiscard]] virtual std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept = 0;

  /// Returns the name of the back end that the kernel belongs to.
  [[nodiscard]] virtual std::string_view backend() const noexcept = 0;
};

}  // namespace cutpoint
