// Calibrates the interpreted device by small batches. The program links this instead of device_calibration.cc of the library,
// which is renamed here.
#define calibrate_device calibrate_device_as_given
#include "pipeline/costs/device_calibration.cc"
#undef calibrate_device

namespace cutpoint {

device_costs calibrate_device(const device_provider& provider, const gpu_info& gpu, const feed_options& job,
                              double mean_chunk_bytes, const device_sampling&);
device_costs calibrate_device(const device_provider& provider, const gpu_info& gpu, const feed_options& job,
                              double mean_chunk_bytes, const device_sampling&) {
  return calibrate_device_as_given(provider, gpu, job, mean_chunk_bytes,
                                   {.batch_bytes = 64 * KiB, .small_bytes = 8 * KiB, .turns = 1});
}

}  // namespace cutpoint
