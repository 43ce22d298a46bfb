// The interfaces of cut kernels and candidate scanners, which replace the loops of an algorithm's reference by faster
// ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <cutpoint/bytes.h>
#include <cutpoint/candidates.h>

namespace cutpoint {

/// Marks the same candidates as the reference of one chunker, in long ranges. Immutable, and thread-safe as far as
/// `candidate_bits` is.
class candidate_scanner {
 public:
  virtual ~candidate_scanner() = default;

  /// Returns the number of positions of the shortest range that can be scanned, a multiple of 64.
  [[nodiscard]] virtual std::uint64_t least_count() const noexcept = 0;

  /// Returns how many positions without candidates are scanned, at least, in the time in which the kernel's loop tests
  /// one. If they are not more than one, the scanner is faster only than the reference.
  [[nodiscard]] virtual double speedup() const noexcept = 0;

  /// Marks the candidates at indices [first, last) of `bytes` in `map`; index `first` is number `position` of the map.
  /// The range has `least_count()` positions or more. Before `first` lie the `behind` bytes, and after `last` the
  /// `ahead` bytes, that `chunker::candidate_map()` names. Reads no byte outside `bytes`. Returns how many
  /// positions without candidates take about as long, or nullopt if candidates are so dense that other loops are
  /// faster; some are then marked.
  [[nodiscard]] virtual std::optional<std::uint64_t> scan(byte_span bytes, std::uint64_t first, std::uint64_t last,
                                                          std::uint64_t position,
                                                          candidate_bits& map) const noexcept = 0;
};

/// Finds the same cuts as the reference of one chunker. A cut kernel is immutable. Any thread may call any member at
/// any time.
class cut_kernel {
 public:
  virtual ~cut_kernel() = default;

  /// Returns the length in bytes of the chunk that begins at `start`, which is less than `bytes.size()`. The stream
  /// ends with `bytes`. Reads no byte outside `bytes`.
  [[nodiscard]] virtual std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept = 0;

  /// Returns the scanner that belongs to the kernel, or null if it has none.
  [[nodiscard]] virtual const candidate_scanner* scanner() const noexcept { return nullptr; }

  /// Returns the name of the back end that the kernel belongs to.
  [[nodiscard]] virtual std::string_view backend() const noexcept = 0;
};

}  // namespace cutpoint
