// `measure_link` on a device.
#include <utility>

#include "cuda/device/device_executor.cuh"
#include "cuda/device/devices.h"
#include "cuda/device/measure_link.h"

namespace cutpoint::cuda {

result<link_rates> measure_link(int device) {
  CUTPOINT_RETURN_IF_FAILED(check_device(device));
  const auto scope = device_scope::enter(device);
  if (!scope) return scope.error();
  auto in = device_executor::make();
  if (!in) return in.error();
  auto out = device_executor::make();
  if (!out) return out.error();
  return link_of<device_executor>::measure(std::move(*in), std::move(*out));
}

}  // namespace cutpoint::cuda
