// Handprints: the smallest fingerprints of a super-chunk, by which similar super-chunks are recognised (AppDedupe, section
// 2.3). And the two formulas of that section that say how well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <cutpoint/cluster/routed_chunk.h>

namespace cutpoint::cluster {

/// Appends the `size` smallest different fingerprints of the chunks in ascending order, or all of them if there are
/// fewer. `size` is at least 1.
void append_handprint(std::span<const routed_chunk> chunks, std::size_t size, std::vector<std::uint64_t>& handprint);

/// Returns the share of fingerprints that two ascending lists have in common, of all that either has: equation 1 for all
/// fingerprints of two super-chunks, equation 5 for their handprints. Two empty lists have the resemblance 1.
[[nodiscard]] double resemblance(std::span<const std::uint64_t> first, std::span<const std::uint64_t> second);

/// Returns the probability that a handprint of `size` fingerprints estimates a resemblance to within `error`, by equation
/// 6, which takes the number of common fingerprints for binomial. `real_resemblance` lies between 0 and 1.
[[nodiscard]] double estimate_accuracy(std::size_t size, double real_resemblance, double error);

}  // namespace cutpoint::cluster
