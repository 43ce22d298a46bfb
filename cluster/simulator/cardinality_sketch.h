// How many different fingerprints a node has, and how many more it would have with those of a super-chunk, by estimates.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <cutpoint/cluster/routed_chunk.h>

namespace cutpoint::cluster {

/// The bits that some fingerprints set in a sketch: for each of their bitmaps, in ascending order, its number and its bits.
using sketch_bits = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

[[nodiscard]] sketch_bits sketch_bits_of(std::span<const routed_chunk> chunks);

/// Probabilistic counting (Flajolet and Martin, 1985): a fingerprint belongs to one of 8,192 bitmaps of 64 bits, and sets bit b
/// of it with the probability 2^-(b+1). The count is estimated by the mean number of ones that bitmaps begin with. The sketch of
/// a union is the union of the sketches. Not thread-safe.
class cardinality_sketch {
 public:
  static constexpr std::uint32_t bitmap_count = 8192;

  cardinality_sketch() : bitmaps_(bitmap_count) {}

  void insert(const sketch_bits& bits);

  /// Estimates the number of fingerprints that were inserted: within about 2 %, but up to a quarter too high for fewer than
  /// there are bitmaps.
  [[nodiscard]] double count() const { return estimate(ones_); }
  /// Estimates how many more there would be.
  [[nodiscard]] double added_count(const sketch_bits& bits) const {
    return estimate(ones_ + added_ones(bits)) - count();
  }

 private:
  [[nodiscard]] static double estimate(std::uint64_t ones);
  [[nodiscard]] std::uint64_t added_ones(const sketch_bits& bits) const;

  std::vector<std::uint64_t> bitmaps_;
  std::uint64_t ones_ = 0;  ///< that bitmaps begin with, from the lowest bit
};

}  // namespace cutpoint::cluster
