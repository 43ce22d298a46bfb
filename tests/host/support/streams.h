// Streams to cut: random bytes, and contents of low entropy on which chunkers tend to fail.
#pragma once

#include <array>
#include <cstddef>
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

}  // namespace cutpoint::tests
