// Batches of fingerprints that hash many messages at once, one in each lane of the vectors.
#pragma once

#include <memory>
#include <optional>

#include <cutpoint/batch_fingerprinter.h>
#include <cutpoint/fingerprint.h>

#include "simd/dispatch/instruction_set.h"

namespace cutpoint::simd {

/// The batch of a recipe for an instruction set; null where there is none: the kind has no vector kernel, or it was not
/// compiled for that set. Whether the set `runs_here` is the caller's to know.
[[nodiscard]] std::unique_ptr<batch_fingerprinter> make_batch_fingerprinter(const fingerprint_recipe& recipe,
                                                                            instruction_set set);

[[nodiscard]] std::unique_ptr<batch_fingerprinter> make_sha1_fingerprinter(instruction_set set);
[[nodiscard]] std::unique_ptr<batch_fingerprinter> make_sha256_fingerprinter(instruction_set set);

/// Leaves and parents of all messages share the lanes. Works on whole leaves of 1 KiB as they are submitted, on what is
/// left of each message once in 1 MiB or 1024 messages, and holds less than 200 KiB whatever the messages.
[[nodiscard]] std::unique_ptr<batch_fingerprinter> make_blake3_fingerprinter(instruction_set set,
                                                                             const std::optional<fingerprint_key>& key);

}  // namespace cutpoint::simd
