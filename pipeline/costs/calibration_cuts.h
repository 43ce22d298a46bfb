// What costs are measured of, on the processor and on devices alike.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>

namespace cutpoint {

struct named_cuts {
  std::string name;  ///< of the catalog
  chunker cuts;
};

/// Every name of the catalog at its own sizes, and the algorithms at averages of 4, 8 and 16 KiB, where they take them.
/// Throws std::bad_alloc.
[[nodiscard]] std::vector<named_cuts> calibration_cuts();

/// Lengths of chunks, in bytes, that fingerprints are made of.
inline constexpr std::array<std::uint64_t, 4> calibration_chunk_lengths = {2 * KiB, 8 * KiB, 64 * KiB, 1 * MiB};

}  // namespace cutpoint
