// `make_scheme` for the parameters of every algorithm: what the device is told of it.
//
// Parameters are those of a chunker: checked, none left out. Throw std::bad_alloc. Thread-safe.
#pragma once

#include <cutpoint/algorithms.h>

#include "cuda/adler.h"
#include "cuda/ae.h"
#include "cuda/borg1.h"
#include "cuda/buzhash.h"
#include "cuda/crc32.h"
#include "cuda/fastcdc.h"
#include "cuda/fixed.h"
#include "cuda/gear.h"
#include "cuda/maxp.h"
#include "cuda/rabin.h"
#include "cuda/rabin_inck.h"
#include "cuda/ram.h"
#include "cuda/repmaxcdc.h"
#include "cuda/ronomon.h"
#include "cuda/seqcdc.h"

namespace cutpoint::cuda {

[[nodiscard]] adler_scheme make_scheme(const adler_parameters& filled);
[[nodiscard]] ae_scheme make_scheme(const ae_parameters& filled);
[[nodiscard]] borg1_scheme make_scheme(const borg1_parameters& filled);
[[nodiscard]] buzhash_scheme make_scheme(const buzhash_parameters& filled);
[[nodiscard]] crc32_scheme make_scheme(const crc32_parameters& filled);
[[nodiscard]] fastcdc_scheme make_scheme(const borg2_fastcdc_parameters& filled);
[[nodiscard]] fastcdc_scheme make_scheme(const fastcdc_parameters& filled);
[[nodiscard]] fixed_scheme make_scheme(const fixed_parameters& filled);
[[nodiscard]] gear_scheme make_scheme(const gear_parameters& filled);
[[nodiscard]] maxp_scheme make_scheme(const maxp_parameters& filled);
[[nodiscard]] rabin_inck_scheme make_scheme(const rabin_inck_parameters& filled);
[[nodiscard]] rabin_scheme make_scheme(const rabin_parameters& filled);
[[nodiscard]] ram_scheme make_scheme(const ram_parameters& filled);
[[nodiscard]] repmaxcdc_scheme make_scheme(const repmaxcdc_parameters& filled);
[[nodiscard]] ronomon_scheme make_scheme(const ronomon_parameters& filled);
[[nodiscard]] seqcdc_scheme make_scheme(const seqcdc_parameters& filled);
[[nodiscard]] tttd_scheme make_scheme(const tttd_parameters& filled);

}  // namespace cutpoint::cuda
