#include "simd/cuts/kernels.h"

#include <variant>

namespace cutpoint::simd {

std::shared_ptr<const cut_kernel> kernel_for(const algorithm_parameters& filled, instruction_set set) {
  return std::visit([set](const auto& p) { return make_kernel(p, set); }, filled);
}

}  // namespace cutpoint::simd
