// A faster way to an algorithm's cuts.
#pragma once

#include <cstdint>
#include <string_view>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Finds the cuts of one chunker, always those of its reference. Immutable; every member may be called from any thread at
/// once.
class cut_kernel {
 public:
  virtual ~cut_kernel() = default;

  /// Length of the chunk that begins at `start` (less than `bytes.size()`) of a stream whose last byte is the last of
  /// `bytes`. Reads nothing outside `bytes`.
  [[nodiscard]] virtual std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept = 0;

  /// The back end that it belongs to.
  [[nodiscard]] virtual std::string_view backend() const noexcept = 0;
};

}  // namespace cutpoint
