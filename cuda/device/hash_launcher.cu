// The kernels of fingerprints on devices.
#include "cuda/hash/hash_launcher.h"

#include "cuda/device/device_executor.cuh"

template class cutpoint::cuda::hash_launcher<cutpoint::cuda::device_executor>;
