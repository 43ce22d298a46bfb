// Bytes inserted into a stream or deleted from it, and the chunks that change by it, by the place in the chunk: the byte
// shifts S1 to S5 of SeqCDC's figure 5, and the two sides of AE's maximum (its figure 2).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <cutpoint/chunker.h>

namespace cutpoint::bench {

/// Places of a chunk.
enum class shift_place {
  minimum,   ///< S1: before the first byte that may decide where the chunk ends
  skipped,   ///< S2: within bytes that SeqCDC skips
  sequence,  ///< S3: within the bytes that decide it: the hash's window, the sequence, the extreme
  between,   ///< S4: none of these
  maximum,   ///< S5: anywhere in a chunk that ends because it has the largest size
  window,    ///< between AE's extreme and the cut
};
inline constexpr std::array<std::string_view, 6> shift_places = {"minimum", "skipped", "sequence",
                                                                 "between", "maximum", "window"};

/// A change of a stream at `offset`: `inserted` comes before the byte there, of which `deleted` bytes disappear.
struct shift {
  std::uint64_t offset = 0;
  std::vector<std::uint8_t> inserted;
  std::uint64_t deleted = 0;
};

/// The chunks of the changed stream that the stream did not have at the same place.
struct shift_outcome {
  std::uint64_t changed = 0;  ///< all of them
  std::uint64_t after = 0;    ///< those that begin after the change
  bool meets = false;         ///< whether the chunks are the same from some cut on, within the bytes looked at
};

/// Finds the chunks that a shift changes, and looks at most `horizon` bytes past it. `chunks` must be those of `stream`.
[[nodiscard]] shift_outcome changed_chunks(const chunker& cuts, byte_span stream, const std::vector<chunk>& chunks,
                                           const shift& change, std::uint64_t horizon);

/// Returns the offsets [first, last) of a place in a chunk; empty if the chunk has no such place.
struct offset_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  [[nodiscard]] bool is_empty() const { return first >= last; }
};
[[nodiscard]] offset_range place_in(const chunker& cuts, byte_span stream, const chunk& which, shift_place place);

/// The sums of many shifts at one place.
struct shift_tally {
  std::uint64_t shifts = 0;
  std::uint64_t changed = 0;
  std::uint64_t after = 0;
  std::uint64_t most_changed = 0;
  std::uint64_t with_none_after = 0;  ///< those with no changed chunk that begins after the change
  std::uint64_t with_one_after = 0;   ///< those with at most one changed chunk that begins after the change
  std::uint64_t without_meeting = 0;
};

/// Makes up to `count` insertions, or deletions, of 1, 16 or 256 bytes at random offsets of a place, in random chunks.
/// What is inserted into an AE chunk is below its extreme, and a deletion stays within the place: AE's section 3.2
/// assumes that the extreme stays. Fewer are made where few chunks have the place.
[[nodiscard]] shift_tally tally_shifts(const chunker& cuts, byte_span stream, shift_place place, bool is_insertion,
                                       std::uint64_t count, std::uint64_t seed);

}  // namespace cutpoint::bench
