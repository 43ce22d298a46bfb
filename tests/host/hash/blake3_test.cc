// Tests BLAKE3 against its published vectors, with and without a key, and which kinds accept a key.
#include <algorithm>
#include <string>

#include <cutpoint/fingerprint.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/hash/blake3_vectors.h"
#include "tests/host/hash/sha256.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;

fingerprint_key vector_key() {
  fingerprint_key key = {};
  std::copy(blake3_vector_key.begin(), blake3_vector_key.end(), key.begin());
  return key;
}

std::string hex_of(const fingerprint_recipe& recipe, byte_span bytes) {
  return to_hex(fingerprinter::make(recipe).value()(bytes).value());
}

TEST(blake3, equals_its_published_vectors) {
  seeded_choices random(1);
  for (const blake3_vector& v : blake3_vectors) {
    const auto bytes = make_stream(content::cycle_251, v.size, random);
    EXPECT_EQ(hex_of(fingerprint_kind::blake3, bytes), v.hash) << v.size << " bytes";
    EXPECT_EQ(hex_of({fingerprint_kind::blake3, vector_key()}, bytes), v.keyed_hash) << v.size << " bytes";
  }
}

TEST(blake3, depends_on_every_byte_of_the_key) {
  const auto bytes = as_bytes("abc");
  fingerprint_key key = {};
  const std::string of_zeros = hex_of({fingerprint_kind::blake3, key}, bytes);
  EXPECT_NE(of_zeros, hex_of(fingerprint_kind::blake3, bytes));
  for (std::uint8_t& byte : key) {
    byte = 1;
    EXPECT_NE(hex_of({fingerprint_kind::blake3, key}, bytes), of_zeros);
    byte = 0;
  }
}

TEST(blake3, alone_takes_a_key) {
  for (const fingerprint_info& info : fingerprints()) {
    const auto keyed = fingerprinter::make({info.kind, vector_key()});
    EXPECT_EQ(keyed.ok(), info.kind == fingerprint_kind::blake3) << info.name;
    if (keyed.ok()) continue;
    EXPECT_EQ(keyed.error().code(), status_code::invalid_argument);
    EXPECT_THAT(keyed.error().message(), HasSubstr(std::string(info.name) + " takes no key: only blake3 does"));
  }
}

}  // namespace
}  // namespace cutpoint::tests
