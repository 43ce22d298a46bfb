// `make_scheme` for the parameters of every algorithm: what the device is told of it.
//
// Parameters are those of a chunker: checked, none left out. Throw std::bad_alloc. Thread-safe.
#pragma once

#include <cutpoint/algorithms.h>

#include "cuda/ae.h"
#include "cuda/fixed.h"
#include "cuda/gear.h"
#include "cuda/maxp.h"
#include "cuda/ram.h"
#include "cuda/repmaxcdc.h"
#include "cuda/ronomon.h"
#include "cuda/seqcdc.h"

namespace cutpoint::cuda {

[[nodiscard]] ae_scheme make_scheme(const ae_parameters& filled);
[[nodiscard]] fixed_scheme make_scheme(const fixed_parameters& filled);
[[nodiscard]] gear_scheme make_scheme(const gear_parameters& filled);
[[nodiscard]] maxp_scheme make_scheme(const maxp_parameters& filled);
[[nodiscard]] ram_scheme make_scheme(const ram_parameters& filled);
[[nodiscard]] repmaxcdc_scheme make_scheme(const repmaxcdc_parameters& filled);
[[nodiscard]] ronomon_scheme make_scheme(const ronomon_parameters& filled);
[[nodiscard]] seqcdc_scheme make_scheme(const seqcdc_parameters& filled);

}  // namespace cutpoint::cuda
