// The scheme of `ram`.
#include "host/algorithms/ram.h"

#include "cuda/make_scheme.h"
#include "cuda/schemes.h"

namespace cutpoint::cuda {

ram_scheme make_scheme(const ram_parameters& filled) {
  const std::uint64_t window = *filled.window_bytes;
  const std::uint64_t max = limit_of(*filled.max_bytes);
  return {.sizes = {.least_chunk = std::min(window + 1, max),
                    .usual_chunk = std::min(window + 256, max),
                    .meeting_chunks = 90},
          .chunks = {.window = window, .reach = max}};
}

}  // namespace cutpoint::cuda
