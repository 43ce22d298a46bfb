// RC-IND of SeqCDC's appendix B: Rabin's hash of each window computed from its bytes, not from the hash before.
#pragma once

#include <algorithm>
#include <vector>

#include <cutpoint/bytes.h>

#include "host/algorithms/rabin.h"

namespace cutpoint::bench {

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
