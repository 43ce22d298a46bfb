#include "cluster/simulator/cardinality_sketch.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "host/core/splitmix.h"

namespace cutpoint::cluster {

sketch_bits sketch_bits_of(std::span<const routed_chunk> chunks) {
  constexpr std::uint64_t highest_bit = std::uint64_t{1} << 50;  // of the 51 that are left of a word
  sketch_bits bits;
  for (const routed_chunk& each : chunks) {
    const std::uint64_t word = splitmix64::mixed(each.fingerprint + 2 * splitmix64::step);
    const std::uint64_t rest = word / cardinality_sketch::bitmap_count | highest_bit;
    bits.emplace_back(static_cast<std::uint32_t>(word % cardinality_sketch::bitmap_count), rest & -rest);
  }
  std::sort(bits.begin(), bits.end());
  std::size_t size = 0;
  for (const auto& [bitmap, bit] : bits) {
    if (size != 0 && bits[size - 1].first == bitmap) {
      bits[size - 1].second |= bit;
    } else {
      bits[size++] = {bitmap, bit};
    }
  }
  bits.resize(size);
  return bits;
}

void cardinality_sketch::insert(const sketch_bits& bits) {
  ones_ += added_ones(bits);
  for (const auto& [bitmap, added] : bits) bitmaps_[bitmap] |= added;
}

std::uint64_t cardinality_sketch::added_ones(const sketch_bits& bits) const {
  std::uint64_t count = 0;
  for (const auto& [bitmap, added] : bits) {
    count += static_cast<std::uint64_t>(std::countr_one(bitmaps_[bitmap] | added) - std::countr_one(bitmaps_[bitmap]));
  }
  return count;
}

// With the correction for small counts of Scheuermann and Mauve (2007).
double cardinality_sketch::estimate(std::uint64_t ones) {
  constexpr double bias = 0.77351;
  constexpr double small_counts = 1.75;
  const double mean = static_cast<double>(ones) / bitmap_count;
  return bitmap_count / bias * (std::exp2(mean) - std::exp2(-small_counts * mean));
}

}  // namespace cutpoint::cluster
