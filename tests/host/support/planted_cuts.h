// Streams with one cut of casync's family at sizes whose divisor no short stream of random bytes meets.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cutpoint::tests {

/// A stream of zeros in which five bytes end the only window that is accepted.
struct planted_cut {
  std::string_view name;
  std::string_view settings;
  std::array<std::uint8_t, 5> bytes;

  static constexpr std::size_t zeros_before = 200;
  static constexpr std::size_t zeros_after = 100;

  [[nodiscard]] std::vector<std::uint8_t> stream() const {
    std::vector<std::uint8_t> all(zeros_before + bytes.size() + zeros_after);
    std::copy(bytes.begin(), bytes.end(), all.begin() + zeros_before);
    return all;
  }
  [[nodiscard]] std::vector<std::uint64_t> lengths() const { return {zeros_before + bytes.size(), zeros_after}; }
};

/// The hashes of the windows are 2^32 - 15754704 - 1, 5 * 64 MiB - 1 and 7 * 32 MiB - 1. They were found by a search over
/// the five bytes with a program that knows the table alone.
inline constexpr std::array planted_cuts = {
    planted_cut{"desync-legacy", "min_bytes=64,avg_bytes=16M,max_bytes=64M", {141, 192, 0, 125, 241}},
    planted_cut{"casync", "min_bytes=64,avg_bytes=16M,max_bytes=64M", {115, 153, 0, 157, 94}},
    planted_cut{"casync", "min_bytes=64,avg_bytes=8M,max_bytes=32M", {215, 87, 0, 117, 78}},
};

}  // namespace cutpoint::tests
