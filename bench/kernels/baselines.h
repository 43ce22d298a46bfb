// What kernels are compared with: loops over instructions that count and find bits, SS-CDC, and RC-IND of SeqCDC's appendix B.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/status.h>

#include "host/algorithms/rabin.h"

namespace cutpoint::bench {

// The instructions that count, deposit and find bits, in loops whose steps depend on each other or do not, and plain loops
// that give the same sums. SeqCDC's skips use them (SeqCDC section III-D), and their speed varies between processors.

/// What a loop does with each word.
enum class intrinsic {
  popcnt,       ///< counts the bits of the word
  tzcnt,        ///< counts the zeros below its lowest bit; 64 if it has none
  pdep,         ///< deposits a constant in the places of its bits
  nth_set_bit,  ///< pdep of one bit and tzcnt of the result: the place of its fourth bit; 64 if it has fewer
};
[[nodiscard]] std::string_view to_string(intrinsic which);

/// Whether each step waits for the one before it.
enum class chaining { independent, chained };

/// Returns whether this build has the instructions and this processor runs them.
[[nodiscard]] bool runs_intrinsics() noexcept;

/// Returns the sum of the results of all words by the instructions; of a chain, its last result. In a chain each word is
/// combined with the result before by exclusive or. Requires `runs_intrinsics()`.
[[nodiscard]] std::uint64_t by_intrinsic(intrinsic which, chaining steps, std::span<const std::uint64_t> words);

/// Returns the same by plain loops over bits.
[[nodiscard]] std::uint64_t by_loops(intrinsic which, chaining steps, std::span<const std::uint64_t> words);

// SS-CDC (Ni, Lin and Jiang, SYSTOR 2019), which SeqCDC's figure 10 compares with: two-stage chunking by AVX-512. It is
// measured, and nothing else uses it.

/// The first stage hashes all bytes, in 16 byte ranges at once, each in a lane of the vectors, and marks the candidates.
/// Bytes, words of the table and, for CRC-32C, outgoing bytes are gathered. The second stage goes from cut to cut in the
/// marks. It cuts as the reference does.
class ss_cdc {
 public:
  /// `cuts` is a chunker of `gear` or `crc32`. Errors: invalid_argument, for another algorithm; unavailable, if this
  /// processor lacks AVX-512.
  [[nodiscard]] static result<ss_cdc> make(const chunker& cuts);

  /// Returns every chunk of a whole stream, in order.
  [[nodiscard]] std::vector<chunk> find_cuts(byte_span stream) const;

 private:
  explicit ss_cdc(chunker cuts) : cuts_(std::move(cuts)) {}

  chunker cuts_;
};

/// Returns every chunk of a stream by the same two stages with the reference's scalar loops, which hash all bytes too. The
/// algorithm must have a candidate map.
[[nodiscard]] std::vector<chunk> find_cuts_in_two_stages(const chunker& cuts, byte_span stream);

/// Returns every chunk of a whole stream, the same as by `rabin` with these complete parameters.
[[nodiscard]] inline std::vector<chunk> find_cuts_by_independent_windows(const rabin_parameters& p, byte_span stream) {
  const rabin_hash hash(p.polynomial, p.window_bytes);
  const masked_test is_cut = test_of(p);
  std::vector<chunk> chunks;
  for (std::uint64_t start = 0; start < stream.size(); start += chunks.back().length) {
    const std::uint64_t last = std::min<std::uint64_t>(limit_of(*p.max_bytes), stream.size() - start);
    std::uint64_t length = std::min(*p.min_bytes, last);
    while (length < last && !is_cut(hash.over(stream.data() + start + length - p.window_bytes))) ++length;
    chunks.push_back({start, length});
  }
  return chunks;
}

}  // namespace cutpoint::bench
