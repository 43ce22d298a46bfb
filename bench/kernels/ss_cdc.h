// SS-CDC (Ni, Lin and Jiang, SYSTOR 2019), which SeqCDC's figure 10 compares with: two-stage chunking by AVX-512. It is
// measured, and nothing else uses it.
#pragma once

#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/status.h>

namespace cutpoint::bench {

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

}  // namespace cutpoint::bench
