// The CUDA back end of a build without a CUDA compiler: absent, and it says so.
#include "cuda/backend.h"

namespace cutpoint::cuda {

result<std::vector<device_info>> devices() { return no_cuda_in_this_build(); }

}  // namespace cutpoint::cuda
