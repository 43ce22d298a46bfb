// Batch fingerprinters that hash many messages at once, one in each vector lane.
#pragma once

#include <memory>
#include <optional>

#include <cutpoint/batch_fingerprinter.h>
#include <cutpoint/fingerprint.h>

#include "simd/dispatch/instruction_set.h"

namespace cutpoint::simd {

/// Returns a batch fingerprinter for an instruction set, or null if the kind has no vector kernel or it was not
/// compiled for that set. The caller must check `runs_here(set)`.
[[nodiscard]] std::unique_ptr<batch_fingerprinter> make_batch_fingerprinter(const fingerprint_recipe& recipe,
                                                                            instruction_set set);

[[nodiscard]] std::unique_ptr<batch_fingerprinter> make_sha1_fingerprinter(instruction_set set);
[[nodiscard]] std::unique_ptr<batch_fingerprinter> make_sha256_fingerprinter(instruction_set set);

/// The fingerprinters of `instruction_set::sha_ni`; null if it was not compiled.
[[nodiscard]] std::unique_ptr<batch_fingerprinter> make_sha1_by_extensions();
[[nodiscard]] std::unique_ptr<batch_fingerprinter> make_sha256_by_extensions();

/// Makes a batch fingerprinter in which the leaves and parents of all messages share the vector lanes. It compresses
/// whole leaves of 1 KiB while messages are submitted, and the rest of them once for each MiB or 1024 messages. It
/// holds less than 200 KiB.
[[nodiscard]] std::unique_ptr<batch_fingerprinter> make_blake3_fingerprinter(instruction_set set,
                                                                             const std::optional<fingerprint_key>& key);

}  // namespace cutpoint::simd
