// `toeplitz-aes`, `rabin-aes` and `toeplitz128-aes`, with Borg 2's profiles: AES encrypts the digest of a window, and two masks
// of the ciphertext decide.
#pragma once

#include <vector>

#include "cuda/cut/specification.h"
#include "cuda/scan/encrypted_scan.h"
#include "host/algorithms/secrets.h"

namespace cutpoint::cuda {

/// A digest of one or two words.
template <std::uint32_t Words>
struct alignas(8 * Words) encrypted_digest {
  std::uint64_t word[Words];

  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t first() const { return word[0]; }
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t second() const { return Words > 1 ? word[Words - 1] : 0; }
  [[nodiscard]] CUTPOINT_DEVICE encrypted_digest with(const encrypted_digest& other) const {
    encrypted_digest sum;
    CUTPOINT_UNROLL
    for (std::uint32_t i = 0; i < Words; ++i) sum.word[i] = word[i] ^ other.word[i];
    return sum;
  }
  [[nodiscard]] CUTPOINT_DEVICE static encrypted_digest at(const std::uint64_t* words, std::uint32_t i) {
    encrypted_digest d;
    CUTPOINT_UNROLL
    for (std::uint32_t k = 0; k < Words; ++k) d.word[k] = words[i * Words + k];
    return d;
  }
};

/// The Toeplitz hash, by a table of the bytes that enter the window and one of those that leave it.
template <std::uint32_t Words>
struct rolling_toeplitz {
  using digest = encrypted_digest<Words>;

  template <class LookUp>
  [[nodiscard]] CUTPOINT_DEVICE static digest absorb(const LookUp& look_up, const digest& d, byte_of incoming) {
    digest shifted;
    CUTPOINT_UNROLL
    for (std::uint32_t i = 0; i < Words; ++i) {
      // times x modulo x^64 + x^4 + x^3 + x + 1
      shifted.word[i] = d.word[i] << 1 ^ (static_cast<std::int64_t>(d.word[i]) < 0 ? 0x1b : 0);
    }
    return shifted.with(look_up(0, incoming));
  }
};

/// The residue modulo a secret polynomial of degree 64, by a table of what the highest byte of a digest becomes and one of the
/// bytes that leave the window.
struct rolling_rabin64 {
  using digest = encrypted_digest<1>;

  template <class LookUp>
  [[nodiscard]] CUTPOINT_DEVICE static digest absorb(const LookUp& look_up, const digest& d, byte_of incoming) {
    const byte_of top{static_cast<std::uint32_t>(d.word[0] >> 32), 24};
    return digest{{d.word[0] << 8 ^ incoming.value()}}.with(look_up(0, top));
  }
};

/// Cuts after the first candidate of level 0 (the strict mask) up to the length `strict_end`, or of level 1 (the loose mask)
/// beyond. No chunk is shorter than `first` + 1, but the last of a stream.
struct two_masks_cut_finder {
  std::uint64_t first = 0;
  std::uint64_t strict_end = 0;
  std::uint64_t reach = 0;

  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t next_cut(const Warp& warp, const packed_bytes& in,
                                                       const stream_range& range, std::uint64_t start) const {
    const std::uint64_t length = least(reach, range.end - start);
    const std::uint64_t end = start + length;
    if (length <= first) return end;
    const std::uint64_t strict = start + least(greatest(strict_end, first), length);
    const std::uint64_t match = next_candidate(warp, in, 0, start + first, strict);
    if (match < strict) return match + 1;
    return least(next_candidate(warp, in, 1, strict, end) + 1, end);
  }
};

/// The specification of these algorithms. Its table is erased with it, and so is the device's copy.
template <class Hash>
struct phte_specification {
  static constexpr std::uint32_t levels = 2;
  static constexpr bool is_secret = true;
  std::vector<std::uint64_t, secret_allocator<std::uint64_t>> table;
  chunk_estimates sizes = {};
  zeros_test<std::uint64_t> strict = {};
  zeros_test<std::uint64_t> loose = {};
  two_masks_cut_finder chunks = {};

  [[nodiscard]] encrypted_scan<Hash> scan(const packed_bytes& in, const std::uint64_t* table_there) const {
    return {in, table_there, {strict, loose}};
  }
  [[nodiscard]] two_masks_cut_finder cut_finder(const std::uint64_t*) const { return chunks; }
};

using rabin_aes_specification = phte_specification<rolling_rabin64>;
using toeplitz_aes_specification = phte_specification<rolling_toeplitz<1>>;
using toeplitz128_aes_specification = phte_specification<rolling_toeplitz<2>>;

}  // namespace cutpoint::cuda
