#include "bench/common/inputs.h"

#include <algorithm>
#include <cstring>
#include <random>

namespace cutpoint::bench {

byte_vector random_bytes(std::uint64_t size) {
  byte_vector bytes(size);
  std::mt19937_64 random;
  for (std::uint64_t position = 0; position < size; position += sizeof(std::uint64_t)) {
    const std::uint64_t word = random();
    std::memcpy(bytes.data() + position, &word, std::min<std::uint64_t>(sizeof(word), size - position));
  }
  return bytes;
}

}  // namespace cutpoint::bench
