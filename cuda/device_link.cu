// The link of a device.
#include <utility>

#include "cuda/backend.h"
#include "cuda/device_machine.cuh"
#include "cuda/measure_link.h"

namespace cutpoint::cuda {

result<link_rates> measure_link(int device) {
  CUTPOINT_RETURN_IF_FAILED(check_device(device));
  const auto scope = device_scope::enter(device);
  if (!scope) return scope.error();
  auto in = device_machine::make();
  if (!in) return in.error();
  auto out = device_machine::make();
  if (!out) return out.error();
  return link_of<device_machine>::measure(std::move(*in), std::move(*out));
}

}  // namespace cutpoint::cuda
