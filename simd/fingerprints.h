// Batches of fingerprints that hash many messages at once, one in each lane of the vectors.
#pragma once

#include <memory>

#include <cutpoint/fingerprint.h>
#include <cutpoint/fingerprint_batch.h>

#include "simd/instruction_set.h"

namespace cutpoint::simd {

/// The batch of a kind for an instruction set; null where there is none: the kind has no vector kernel, or it was not
/// compiled for that set. Whether the set `runs_here` is the caller's to know.
[[nodiscard]] std::unique_ptr<fingerprint_batch> make_fingerprint_batch(fingerprint_kind kind, instruction_set set);

[[nodiscard]] std::unique_ptr<fingerprint_batch> make_sha1_batch(instruction_set set);
[[nodiscard]] std::unique_ptr<fingerprint_batch> make_sha256_batch(instruction_set set);

}  // namespace cutpoint::simd
