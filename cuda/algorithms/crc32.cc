// The specification of `crc32`.
#include "host/algorithms/crc32.h"

#include "cuda/algorithms/all_specifications.h"
#include "cuda/algorithms/make_specification.h"

namespace cutpoint::cuda {

crc32_specification make_specification(const crc32_parameters& filled) {
  const crc32_hash hash(filled.window_bytes);
  const masked_test test = masked_test::low(filled.avg_bytes, lbfs_pattern);
  crc32_specification specification{.table = {},
                                    .sizes = rolling_sizes(filled),
                                    .rule = {.hash = {{.zeros = static_cast<std::uint32_t>(test.pattern),
                                                       .window = static_cast<std::uint32_t>(filled.window_bytes)}},
                                             .tests = {{low_zeros_test(test)}}},
                                    .chunks = make_limits_cut_finder(filled)};
  append_table(specification.table, [&](std::uint8_t byte) { return hash.absorb(0, byte); });
  append_removals(specification.table, hash, test.pattern);
  return specification;
}

}  // namespace cutpoint::cuda
