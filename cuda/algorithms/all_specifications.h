// Declares `make_specification` for the parameters of every algorithm.
//
// Parameters are those of a chunker: checked and complete. The functions throw std::bad_alloc and are thread-safe.
#pragma once

#include <cutpoint/algorithms.h>

#include "cuda/algorithms/adler.h"
#include "cuda/algorithms/ae.h"
#include "cuda/algorithms/borg1.h"
#include "cuda/algorithms/buzhash.h"
#include "cuda/algorithms/crc32.h"
#include "cuda/algorithms/fastcdc.h"
#include "cuda/algorithms/fixed.h"
#include "cuda/algorithms/gear.h"
#include "cuda/algorithms/maxp.h"
#include "cuda/algorithms/mincdc.h"
#include "cuda/algorithms/phte.h"
#include "cuda/algorithms/rabin.h"
#include "cuda/algorithms/rabin_inck.h"
#include "cuda/algorithms/ram.h"
#include "cuda/algorithms/repmaxcdc.h"
#include "cuda/algorithms/ronomon.h"
#include "cuda/algorithms/seqcdc.h"

namespace cutpoint::cuda {

[[nodiscard]] adler_specification make_specification(const adler_parameters& filled);
[[nodiscard]] ae_specification make_specification(const ae_parameters& filled);
[[nodiscard]] borg1_specification make_specification(const borg1_parameters& filled);
[[nodiscard]] buzhash_specification make_specification(const buzhash_parameters& filled);
[[nodiscard]] crc32_specification make_specification(const crc32_parameters& filled);
[[nodiscard]] fastcdc_specification make_specification(const borg2_fastcdc_parameters& filled);
[[nodiscard]] fastcdc_specification make_specification(const fastcdc_parameters& filled);
[[nodiscard]] fixed_specification make_specification(const fixed_parameters& filled);
[[nodiscard]] gear_specification make_specification(const gear_parameters& filled);
[[nodiscard]] maxp_specification make_specification(const maxp_parameters& filled);
[[nodiscard]] mincdc_specification make_specification(const mincdc_parameters& filled);
[[nodiscard]] rabin_inck_specification make_specification(const rabin_inck_parameters& filled);
[[nodiscard]] rabin_specification make_specification(const rabin_parameters& filled);
[[nodiscard]] rabin_aes_specification make_specification(const rabin_aes_parameters& filled);
[[nodiscard]] ram_specification make_specification(const ram_parameters& filled);
[[nodiscard]] repmaxcdc_specification make_specification(const repmaxcdc_parameters& filled);
[[nodiscard]] ronomon_specification make_specification(const ronomon_parameters& filled);
[[nodiscard]] seqcdc_specification make_specification(const seqcdc_parameters& filled);
[[nodiscard]] toeplitz128_aes_specification make_specification(const toeplitz128_aes_parameters& filled);
[[nodiscard]] toeplitz_aes_specification make_specification(const toeplitz_aes_parameters& filled);
[[nodiscard]] tttd_specification make_specification(const tttd_parameters& filled);

}  // namespace cutpoint::cuda
