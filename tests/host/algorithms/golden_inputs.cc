// Makes the inputs of the golden cuts.
#include "tests/host/algorithms/golden_inputs.h"

#include <algorithm>
#include <vector>

#include "tests/host/hash/sha256.h"

namespace cutpoint::tests {

namespace {

std::vector<std::uint8_t> make_d1() {
  std::vector<std::uint8_t> bytes(32 * MiB);
  for (std::uint64_t counter = 0; counter < 1 * MiB; ++counter) {
    std::array<std::uint8_t, 8> big_endian = {};
    for (std::size_t i = 0; i < 8; ++i) big_endian[i] = static_cast<std::uint8_t>(counter >> (56 - 8 * i));
    const sha256_bytes digest = sha256(big_endian);
    std::copy(digest.begin(), digest.end(), bytes.begin() + static_cast<std::ptrdiff_t>(counter * digest.size()));
  }
  return bytes;
}

std::vector<std::uint8_t> make_d2(byte_span d1) {
  const std::uint64_t middle = 5 * MiB + 12345;
  std::string letters;
  for (int i = 0; i < 20'000; ++i) letters += "abcdefghijklmnop";
  const std::vector<std::uint8_t> zeros(3 * MiB);
  std::vector<std::uint8_t> bytes;
  for (const byte_span block : {d1.first(10 * MiB), byte_span(zeros), d1.subspan(middle, 9 * MiB - middle),
                                as_bytes(letters), d1.subspan(2 * MiB, 1 * MiB + 1)}) {
    bytes.insert(bytes.end(), block.begin(), block.end());
  }
  return bytes;
}

}  // namespace

byte_span golden_input(std::string_view name) {
  static const std::vector<std::uint8_t> d1 = make_d1();
  static const std::vector<std::uint8_t> d2 = make_d2(d1);
  if (name == "D1") return d1;
  if (name == "D2") return d2;
  if (name == "D3") return byte_span(d2).first(d2.size() - 1);
  throw std::invalid_argument("no golden input of this name");
}

}  // namespace cutpoint::tests
