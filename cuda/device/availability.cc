// The messages that say why CUDA cannot be used on this machine.
#include "cuda/device/availability.h"

namespace cutpoint::cuda {

std::string to_string(version v) { return std::to_string(v.major) + "." + std::to_string(v.minor); }

status no_cuda_in_this_build() {
  return {status_code::unavailable,
          "this build has no CUDA code (in a checkout, scripts/setup --cuda lets scripts/cutpoint build it)"};
}

status check_driver(const driver_probe& probe) {
  const auto unavailable = [](std::string sentence) { return status(status_code::unavailable, std::move(sentence)); };
  if (probe.driver == version{}) return unavailable("no NVIDIA driver was found");
  if (probe.driver.major < probe.runtime.major) {
    return unavailable("the NVIDIA driver supports CUDA " + to_string(probe.driver) + ", but this build needs CUDA " +
                       to_string(version{probe.runtime.major, 0}) + " or newer");
  }
  if (!probe.error.empty()) return unavailable("the NVIDIA driver could not list its devices: " + probe.error);
  if (probe.device_count == 0) return unavailable("the NVIDIA driver shows this process no device");
  return {};
}

std::string reason_device_is_unsupported(std::string_view device_name, version device, version oldest_code) {
  if (device >= oldest_code) return {};
  return std::string(device_name) + " has compute capability " + to_string(device) + ", but this build has code for " +
         to_string(oldest_code) + " and newer only";
}

}  // namespace cutpoint::cuda
