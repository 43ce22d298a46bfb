// Measures how much shorter zstd makes some data, and how fast.
#pragma once

#include <cutpoint/bytes.h>
#include <cutpoint/tune/facts.h>

namespace cutpoint {

/// Compresses blocks of 64 KiB of `data`, which is not empty, each by itself as a store does chunks, at zstd's level 3. Runs on the
/// calling thread and measures its processor time. A block that does not get shorter counts with its own length. Thread-safe. Throws
/// std::bad_alloc.
[[nodiscard]] measured_compression measure_compression(byte_span data);

}  // namespace cutpoint
