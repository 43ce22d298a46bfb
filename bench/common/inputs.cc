#include "bench/common/inputs.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string_view>
#include <system_error>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>
#include <fmt/format.h>

namespace cutpoint::bench {

namespace {

void append(byte_vector& bytes, byte_span more) { bytes.insert(bytes.end(), more.begin(), more.end()); }

}  // namespace

byte_vector random_bytes(std::uint64_t size) {
  byte_vector bytes(size);
  std::mt19937_64 random;
  for (std::uint64_t position = 0; position < size; position += sizeof(std::uint64_t)) {
    const std::uint64_t word = random();
    std::memcpy(bytes.data() + position, &word, std::min<std::uint64_t>(sizeof(word), size - position));
  }
  return bytes;
}

result<byte_vector> file_bytes(const std::string& path, std::uint64_t at_most) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error) return status{status_code::io_error, fmt::format("{}: {}", path, error.message()), error.value()};
  if (size == 0) return status{status_code::io_error, fmt::format("{}: is empty", path)};
  byte_vector bytes(std::min(size, at_most));
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()))) {
    return status{status_code::io_error, fmt::format("{}: cannot be read: {}", path, std::strerror(errno)), errno};
  }
  return bytes;
}

result<byte_vector> golden_input() {
  result<fingerprinter> sha256 = fingerprinter::make(fingerprint_kind::sha256);
  if (!sha256) return sha256.error();
  byte_vector d1;
  d1.reserve(32 * MiB);
  for (std::uint64_t counter = 0; counter < MiB; ++counter) {
    std::array<std::uint8_t, 8> big_endian = {};
    for (std::size_t i = 0; i < 8; ++i) big_endian[i] = static_cast<std::uint8_t>(counter >> (56 - 8 * i));
    const result<digest> made = (*sha256)(big_endian);
    if (!made) return made.error();
    append(d1, made.value().view());
  }
  const byte_span random = d1;
  byte_vector d2;
  append(d2, random.first(10 * MiB));
  d2.resize(d2.size() + 3 * MiB);
  append(d2, random.subspan(5 * MiB + 12345, 4 * MiB - 12345));
  for (int i = 0; i < 20000; ++i) {
    for (const char letter : std::string_view("abcdefghijklmnop")) d2.push_back(static_cast<std::uint8_t>(letter));
  }
  append(d2, random.subspan(2 * MiB, MiB + 1));
  return d2;
}

}  // namespace cutpoint::bench
