// The rule with two masks, which FastCDC calls normalized chunking.
#pragma once

#include <cutpoint/candidates.h>

#include "host/algorithms/reference.h"

namespace cutpoint {

/// A chunk is cut at its first byte from `min_bytes` on that the strict mask accepts before `strict_end`, or that the loose
/// mask accepts from there on.
struct normalized_rule {
  std::uint64_t strict_mask;
  std::uint64_t loose_mask;
  std::uint64_t min_bytes;
  std::uint64_t strict_end;
  std::uint64_t max_bytes;                     ///< `unlimited` without a maximum
  std::uint64_t end_mask = ~std::uint64_t{0};  ///< for the offsets at which the ranges of the masks may end
  std::uint64_t match_bytes = 1;               ///< 1 if the accepted byte ends its chunk, 0 if it begins the next

  /// The ends of the ranges in which a chunk of at most `end` bytes is tested.
  [[nodiscard]] std::uint64_t strict_range_end(std::uint64_t end) const { return std::min(strict_end, end) & end_mask; }
  [[nodiscard]] std::uint64_t loose_range_end(std::uint64_t end) const { return end & end_mask; }

  [[nodiscard]] std::uint64_t mask_at(std::uint64_t byte) const { return byte < strict_end ? strict_mask : loose_mask; }

  /// Returns the length of a chunk of at most `end` bytes, whose first accepted byte is `match`, or `unlimited`.
  [[nodiscard]] std::uint64_t length_for(std::uint64_t match, std::uint64_t end) const {
    return match == unlimited ? end : match + match_bytes;
  }

  /// Returns the first accepted byte from `first` on of a chunk of at most `end` bytes, or `unlimited`. Level 0 of the map
  /// has what the strict mask accepts, and level 1 what the loose mask accepts. `position` is that of the chunk in the map.
  [[nodiscard]] std::uint64_t mapped_match(std::uint64_t first, std::uint64_t end, const candidate_bits& map,
                                           std::uint64_t position) const {
    const auto next = [&](std::uint64_t last, std::uint64_t level) {
      if (first >= last) return unlimited;
      const std::uint64_t match = map.next(position + first, position + last, level) - position;
      first = last;
      return match == last ? unlimited : match;
    };
    const std::uint64_t match = next(strict_range_end(end), 0);
    return match != unlimited ? match : next(loose_range_end(end), 1);
  }
};

}  // namespace cutpoint
