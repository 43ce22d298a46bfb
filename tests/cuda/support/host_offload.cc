#include "tests/cuda/support/host_offload.h"

#include "cuda/make_batch.h"

namespace cutpoint::cuda {

result<std::unique_ptr<offload>> make_host_offload(host_machine_options options, const chunker& cuts,
                                                   const fingerprint_recipe& fingerprint, const batch_limits& limits,
                                                   offload_use use) {
  return make_batch(host_machine(std::move(options)), cuts, fingerprint, limits, use);
}

}  // namespace cutpoint::cuda
