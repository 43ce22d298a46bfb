// The benchmarks' data in device memory, made and checked there. In the default stream of the current device.
#pragma once

#include <cstdint>

#include <cutpoint/status.h>

namespace cutpoint::bench {

/// Writes the i-th number of SplitMix64 to word i, and waits for that. Errors: memory_limit; backend_failure.
[[nodiscard]] status make_random_words(std::uint64_t* words, std::uint64_t count);

/// Returns whether all words are those of `make_random_words`. Errors: memory_limit; backend_failure.
[[nodiscard]] result<bool> are_random_words(const std::uint64_t* words, std::uint64_t count);

}  // namespace cutpoint::bench
