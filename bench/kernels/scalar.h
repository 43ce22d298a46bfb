// The scalar references and the fingerprints as benchmarks.
#pragma once

#include <span>
#include <string>

#include <cutpoint/bytes.h>

#include "bench/common/configurations.h"

namespace cutpoint::bench {

/// Registers the plain read, each configuration's chunker, and each fingerprint over chunks of 8 KiB and over those of
/// fastcdc. Names begin with `family`. `bytes` must live until the benchmarks have run.
void register_scalar_benchmarks(const std::string& family, byte_span bytes,
                                std::span<const configuration> configurations);

}  // namespace cutpoint::bench
