// Checks of the chunks of a stream. Each returns a sentence that describes the first fault, or an empty string. Tests
// expect no fault, and fuzz targets stop at one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <cutpoint/algorithms.h>
#include <cutpoint/chunker.h>

#include "tests/host/support/choices.h"

namespace cutpoint::tests {

/// Checks that the chunks cover a stream of `size` bytes in order and that their lengths are within the algorithm's
/// limits.
[[nodiscard]] std::string cover_fault(const chunker& chunker, std::span<const chunk> chunks, std::uint64_t size);

/// Checks that `next_cut` gives the same length on a copy of only the bytes within `behind` and `reach`. The copy is a
/// heap allocation of exactly that size, so a sanitizer detects any read outside it.
[[nodiscard]] std::string restart_fault(const chunker& chunker, byte_span stream, std::span<const chunk> chunks);

/// Checks that `next_cut` gives the same length if the bytes outside `behind` and `reach` are different.
[[nodiscard]] std::string context_fault(const chunker& chunker, byte_span stream, std::span<const chunk> chunks,
                                        choices& random);

/// Checks that `next_cut` gives the same length or nullopt on a window that ends early. Windows of every `step`-th
/// length are checked.
[[nodiscard]] std::string short_window_fault(const chunker& chunker, byte_span stream, std::span<const chunk> chunks,
                                             std::uint64_t step);

/// Checks that `next_cut` gives the same length on a window that extends more than `lookahead` bytes past the cut.
[[nodiscard]] std::string undecided_fault(const chunker& chunker, byte_span stream, std::span<const chunk> chunks);

/// Checks that the naive implementation gives the same lengths.
[[nodiscard]] std::string definition_fault(const chunker& chunker, byte_span stream);

[[nodiscard]] std::vector<std::uint64_t> lengths_of(std::span<const chunk> chunks);

// The shortest and longest chunks that an algorithm may make.

struct chunk_limits {
  /// The shortest length of a chunk but the last of its stream.
  std::uint64_t shortest = 1;
  /// The longest length of a chunk.
  std::uint64_t longest = 0;
};

/// Returns the limits for parameters with no field left out.
[[nodiscard]] chunk_limits limits_of(const algorithm_parameters& parameters);

}  // namespace cutpoint::tests
