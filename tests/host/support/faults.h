// What can be wrong with the chunks of a stream, as sentences: tests expect none, fuzz targets stop at one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <cutpoint/chunker.h>

#include "tests/host/support/choices.h"

namespace cutpoint::tests {

/// The chunks do not cover a stream of `size` bytes in order, or are shorter or longer than the algorithm allows.
[[nodiscard]] std::string cover_fault(const chunker& chunker, std::span<const chunk> chunks, std::uint64_t size);

/// `next_cut` on a copy of just the bytes that `reach` and `behind` allow gives another length than `chunks`, or gives
/// none. The copy is a heap allocation of that size, so that a sanitizer sees any other byte that is read.
[[nodiscard]] std::string restart_fault(const chunker& chunker, byte_span stream, std::span<const chunk> chunks);

/// `next_cut` gives another length when the bytes past `reach` and before `behind` are others.
[[nodiscard]] std::string surroundings_fault(const chunker& chunker, byte_span stream, std::span<const chunk> chunks,
                                             choices& random);

/// `next_cut` on a window that ends early (one every `step` bytes) gives another length instead of the same or none.
[[nodiscard]] std::string short_window_fault(const chunker& chunker, byte_span stream, std::span<const chunk> chunks,
                                             std::uint64_t step);

/// `next_cut` gives none, or another length, on a window that goes on more than `lookahead` bytes past the cut.
[[nodiscard]] std::string undecided_fault(const chunker& chunker, byte_span stream, std::span<const chunk> chunks);

/// The naive implementation gives other lengths.
[[nodiscard]] std::string definition_fault(const chunker& chunker, byte_span stream);

[[nodiscard]] std::vector<std::uint64_t> lengths_of(std::span<const chunk> chunks);

}  // namespace cutpoint::tests
