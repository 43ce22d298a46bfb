// The parameters of every algorithm, and one type that holds any of them. Only these parameters change the cuts.
#pragma once

#include <variant>

#include <cutpoint/algorithms/adler.h>
#include <cutpoint/algorithms/ae.h>
#include <cutpoint/algorithms/borg1.h>
#include <cutpoint/algorithms/buzhash.h>
#include <cutpoint/algorithms/crc32.h>
#include <cutpoint/algorithms/fastcdc.h>
#include <cutpoint/algorithms/fixed.h>
#include <cutpoint/algorithms/gear.h>
#include <cutpoint/algorithms/maxp.h>
#include <cutpoint/algorithms/mincdc.h>
#include <cutpoint/algorithms/phte.h>
#include <cutpoint/algorithms/rabin.h>
#include <cutpoint/algorithms/rabin_inck.h>
#include <cutpoint/algorithms/ram.h>
#include <cutpoint/algorithms/repmaxcdc.h>
#include <cutpoint/algorithms/ronomon.h>
#include <cutpoint/algorithms/seqcdc.h>

namespace cutpoint {

/// Holds the parameters of one algorithm. Fields that are left out take their defaults when a `chunker` is made.
using algorithm_parameters =
    std::variant<gear_parameters, rabin_parameters, rabin_inck_parameters, adler_parameters, crc32_parameters,
                 buzhash_parameters, tttd_parameters, fastcdc_parameters, borg2_fastcdc_parameters, ronomon_parameters,
                 borg1_parameters, repmaxcdc_parameters, maxp_parameters, ae_parameters, ram_parameters,
                 seqcdc_parameters, mincdc_parameters, toeplitz_aes_parameters, rabin_aes_parameters,
                 toeplitz128_aes_parameters, fixed_parameters>;

}  // namespace cutpoint
