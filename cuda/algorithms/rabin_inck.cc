// The specification of `rabin-inck`.
#include "host/algorithms/rabin_inck.h"

#include "cuda/algorithms/all_specifications.h"
#include "cuda/algorithms/make_specification.h"

namespace cutpoint::cuda {

rabin_inck_specification make_specification(const rabin_inck_parameters& filled) {
  return {.table = {},
          .sizes = rolling_sizes(filled),
          .rule = {.hash = {.window = static_cast<std::uint32_t>(filled.window_bytes)},
                   .tests = {{low_bits_test(masked_test::low(filled.avg_bytes, lbfs_pattern))}}},
          .chunks = make_limits_cut_finder(filled)};
}

}  // namespace cutpoint::cuda
