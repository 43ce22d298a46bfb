// The scheme of `rabin-inck`.
#include "host/algorithms/rabin_inck.h"

#include "cuda/make_scheme.h"
#include "cuda/schemes.h"

namespace cutpoint::cuda {

rabin_inck_scheme make_scheme(const rabin_inck_parameters& filled) {
  return {.table = {},
          .sizes = rolling_sizes(filled),
          .rule = {.hash = {.window = static_cast<std::uint32_t>(filled.window_bytes)},
                   .tests = {{low_bits_test(masked_test::low(filled.avg_bytes, lbfs_pattern))}}},
          .chunks = limits_cutter(filled)};
}

}  // namespace cutpoint::cuda
