// The CUDA back end of a build without a CUDA compiler: absent, and it says so.
#include "cuda/backend.h"
#include "cuda/offload.h"

namespace cutpoint::cuda {

result<std::vector<device_info>> devices() { return no_cuda_in_this_build(); }

status check_device(int) { return no_cuda_in_this_build(); }

result<std::unique_ptr<offload>> make_offload(int, const chunker&, const fingerprint_recipe&, const batch_limits&) {
  return no_cuda_in_this_build();
}

}  // namespace cutpoint::cuda
