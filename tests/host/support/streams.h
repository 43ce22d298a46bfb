// Streams to cut: random bytes, and contents of low entropy on which chunkers tend to fail.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/bytes.h>

#include "tests/host/support/choices.h"

namespace cutpoint::tests {

enum class content {
  random,
  two_symbols,
  few_symbols,
  runs,  ///< runs of one byte with random lengths
  zeros,
  all_255,
  short_period,  ///< 2 to 9 random bytes, repeated
  cycle_251,     ///< 0, 1, ..., 250, repeated; this reveals swapped blocks
  ramp_up,
  ramp_down,
  spikes,  ///< zeros with an occasional random byte
  text,
  mixed,  ///< byte ranges with all of these contents
};

inline constexpr std::array all_contents = {
    content::random,  content::two_symbols,  content::few_symbols, content::runs,    content::zeros,
    content::all_255, content::short_period, content::cycle_251,   content::ramp_up, content::ramp_down,
    content::spikes,  content::text,         content::mixed};

[[nodiscard]] std::string_view name_of(content what);

[[nodiscard]] std::vector<std::uint8_t> make_stream(content what, std::size_t size, choices& random);
[[nodiscard]] inline std::vector<std::uint8_t> make_stream(content what, std::size_t size, std::uint64_t seed) {
  seeded_choices random(seed);
  return make_stream(what, size, random);
}
[[nodiscard]] inline std::string drawn_text(content what, std::size_t size, std::uint64_t seed) {
  const auto stream = make_stream(what, size, seed);
  return {stream.begin(), stream.end()};
}

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
