// A binary fuse filter: a set of 64-bit keys in about 9 bits each, which errs for one absent key in 256.
//
// Graf and Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters", ACM JEA 27 (2022), algorithms 1 and 2, with
// three hash functions and fingerprints of 8 bits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <cutpoint/bytes.h>

#include "host/core/splitmix.h"

namespace cutpoint::store {

/// What a filter needs besides its fingerprints: `fingerprint_count()` bytes, in overlapping windows of three segments.
struct fuse_filter_shape {
  std::uint32_t segment_bits = 0;   ///< log2 of a segment's length, at most `most_segment_bits`
  std::uint32_t segment_count = 1;  ///< number of segments in which a window may begin, at least 1
  std::uint64_t seed = 0;

  static constexpr std::uint32_t most_segment_bits = 18;
  [[nodiscard]] std::uint64_t fingerprint_count() const noexcept {
    return (std::uint64_t{segment_count} + 2) << segment_bits;
  }
};

/// Returns the shape for a number of keys. Different shapes give equally right filters.
[[nodiscard]] fuse_filter_shape fuse_filter_shape_for(std::uint64_t key_count) noexcept;

/// Makes the fingerprints for distinct keys, and chooses the seed of `shape`. Needs about 30 bytes of memory for each
/// key. Returns nullopt if no seed fits, which does not happen for distinct keys.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> build_fuse_filter(std::span<const std::uint64_t> keys,
                                                                         fuse_filter_shape& shape);

/// A filter over fingerprints that another object owns.
class fuse_filter {
 public:
  fuse_filter(const fuse_filter_shape& shape, const std::uint8_t* fingerprints) noexcept
      : shape_(shape), fingerprints_(fingerprints) {}

  /// Returns true for every key of the set, and for one other key in 256.
  [[nodiscard]] bool may_contain(std::uint64_t key) const noexcept {
    const slots places = slots_of(key);
    return (places.fingerprint ^ fingerprints_[places.at[0]] ^ fingerprints_[places.at[1]] ^
            fingerprints_[places.at[2]]) == 0;
  }
  /// Begins to load what `may_contain` will read.
  void prefetch(std::uint64_t key) const noexcept {
    for (const std::uint64_t at : slots_of(key).at) __builtin_prefetch(fingerprints_ + at);
  }

  struct slots {
    std::uint64_t at[3];
    std::uint8_t fingerprint;
  };
  [[nodiscard]] slots slots_of(std::uint64_t key) const noexcept { return slots_of_hash(hash_of(key)); }
  [[nodiscard]] std::uint64_t hash_of(std::uint64_t key) const noexcept { return splitmix64::mixed(key + shape_.seed); }
  [[nodiscard]] slots slots_of_hash(std::uint64_t hash) const noexcept {
    const std::uint64_t starts = std::uint64_t{shape_.segment_count} << shape_.segment_bits;
    const std::uint64_t mask = (std::uint64_t{1} << shape_.segment_bits) - 1;
    __extension__ using wide = unsigned __int128;
    const auto first = static_cast<std::uint64_t>((wide{hash} * starts) >> 64);
    return {{first, (first + mask + 1) ^ ((hash >> 18) & mask), (first + 2 * (mask + 1)) ^ (hash & mask)},
            static_cast<std::uint8_t>(hash ^ (hash >> 32))};
  }

 private:
  fuse_filter_shape shape_;
  const std::uint8_t* fingerprints_;
};

}  // namespace cutpoint::store
