#include "tests/cuda/support/host_offload.h"

#include <host_launchers.h>

#include "cuda/batch/batch_offload.h"

namespace cutpoint::cuda {

result<std::unique_ptr<offload>> make_host_offload(host_executor_options options, const chunker& cuts,
                                                   const fingerprint_recipe& fingerprint, const batch_limits& limits,
                                                   offload_use use) {
  return make_batch_offload(host_executor(std::move(options)), cuts, fingerprint, limits, use);
}

}  // namespace cutpoint::cuda
