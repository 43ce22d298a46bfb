// The kernels on devices that gather the chunks of a batch, the same for all specifications.
#include "cuda/cut/cut_launcher.h"
#include "cuda/device/device_executor.cuh"

template cutpoint::status cutpoint::cuda::gather_chunks(cutpoint::cuda::device_executor&,
                                                        const cutpoint::cuda::cut_launch_arguments&,
                                                        const cutpoint::cuda::partition_state*);
