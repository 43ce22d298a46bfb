// BLAKE3 of many messages at once: the leaves and the parents of all of them share the lanes of a vector.
#pragma once

#include <memory>
#include <optional>

#include <cutpoint/fingerprint.h>
#include <cutpoint/fingerprint_batch.h>

#include "simd/instruction_set.h"

namespace cutpoint::simd {

/// Fingerprints of the kind blake3, keyed where there is a key; null where `set` was not compiled. Whether it
/// `runs_here` is the caller's to know. Works on whole leaves of 1 KiB as they are submitted, on what is left of each
/// message once in 1 MiB or 1024 messages, and holds less than 200 KiB whatever the messages.
[[nodiscard]] std::unique_ptr<fingerprint_batch> make_blake3_batch(instruction_set set,
                                                                   const std::optional<fingerprint_key>& key);

}  // namespace cutpoint::simd
