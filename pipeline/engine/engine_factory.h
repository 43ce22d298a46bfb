// Makes engines, with CUDA's devices or with those of a test.
#pragma once

#include <memory>

#include <cutpoint/engine.h>

#include "pipeline/devices/device_lanes.h"

namespace cutpoint {

struct engine_factory {
  /// As `engine::make`, with the devices that `devices` provides. It must not be null.
  [[nodiscard]] static result<engine> make(const engine_options& options,
                                           std::shared_ptr<const device_provider> devices);
};

}  // namespace cutpoint
