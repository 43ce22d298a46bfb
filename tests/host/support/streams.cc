// Makes streams to cut.
#include "tests/host/support/streams.h"

#include <algorithm>

namespace cutpoint::tests {

namespace {

std::uint8_t any_byte(choices& random) { return static_cast<std::uint8_t>(random.between(0, 255)); }

/// Returns random bytes from a small set.
std::vector<std::uint8_t> from_symbols(std::size_t symbol_count, std::size_t size, choices& random) {
  std::vector<std::uint8_t> symbols(symbol_count);
  for (std::uint8_t& symbol : symbols) symbol = any_byte(random);
  std::vector<std::uint8_t> bytes(size);
  for (std::uint8_t& byte : bytes) byte = symbols[random.between(0, symbol_count - 1)];
  return bytes;
}

std::vector<std::uint8_t> runs(std::size_t size, choices& random) {
  std::vector<std::uint8_t> bytes;
  while (bytes.size() < size) {
    const std::uint64_t length = std::min<std::uint64_t>(random.between(1, 150), size - bytes.size());
    bytes.insert(bytes.end(), length, any_byte(random));
  }
  return bytes;
}

std::vector<std::uint8_t> periodic(std::span<const std::uint8_t> period, std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = period[i % period.size()];
  return bytes;
}

std::vector<std::uint8_t> ramp(std::size_t size, int step, std::size_t modulus = 256) {
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto value = static_cast<std::uint8_t>(i % modulus);
    bytes[i] = step > 0 ? value : static_cast<std::uint8_t>(255 - value);
  }
  return bytes;
}

std::vector<std::uint8_t> spikes(std::size_t size, choices& random) {
  std::vector<std::uint8_t> bytes(size);
  for (std::uint8_t& byte : bytes) byte = random.once_in(40) ? any_byte(random) : std::uint8_t{0};
  return bytes;
}

std::vector<std::uint8_t> text(std::size_t size, choices& random) {
  constexpr std::string_view letters = "etaoin shrdlu cmfwyp etaoin the and of to \n";
  std::vector<std::uint8_t> bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(letters[random.between(0, letters.size() - 1)]);
  return bytes;
}

std::vector<std::uint8_t> mixed(std::size_t size, choices& random) {
  std::vector<std::uint8_t> bytes;
  while (bytes.size() < size) {
    const std::uint64_t length = std::min<std::uint64_t>(random.between(1, 1 + size / 4), size - bytes.size());
    const auto block = make_stream(random.one_of(content::text), length, random);
    bytes.insert(bytes.end(), block.begin(), block.end());
  }
  return bytes;
}

}  // namespace

std::string_view name_of(content what) {
  constexpr std::array<std::string_view, all_contents.size()> names = {
      "random",    "two_symbols", "few_symbols", "runs",   "zeros", "all_255", "short_period",
      "cycle_251", "ramp_up",     "ramp_down",   "spikes", "text",  "mixed"};
  return names[static_cast<std::size_t>(what)];
}

std::vector<std::uint8_t> make_stream(content what, std::size_t size, choices& random) {
  switch (what) {
    case content::random:
      break;
    case content::two_symbols:
      return from_symbols(2, size, random);
    case content::few_symbols:
      return from_symbols(5, size, random);
    case content::runs:
      return runs(size, random);
    case content::zeros:
      return std::vector<std::uint8_t>(size, 0);
    case content::all_255:
      return std::vector<std::uint8_t>(size, 255);
    case content::short_period:
      return periodic(make_stream(content::random, random.between(2, 9), random), size);
    case content::cycle_251:
      return ramp(size, 1, 251);
    case content::ramp_up:
      return ramp(size, 1);
    case content::ramp_down:
      return ramp(size, -1);
    case content::spikes:
      return spikes(size, random);
    case content::text:
      return text(size, random);
    case content::mixed:
      return mixed(size, random);
  }
  std::vector<std::uint8_t> bytes(size);
  for (std::uint8_t& byte : bytes) byte = any_byte(random);
  return bytes;
}

}  // namespace cutpoint::tests
