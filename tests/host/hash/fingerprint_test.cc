// Tests fingerprints against the vectors that their authors published.
#include <cutpoint/fingerprint.h>
#include <gmock/gmock.h>

#include "tests/host/hash/blake3_vectors.h"
#include "tests/host/hash/sha256.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;

std::string hex_of(const fingerprint_recipe& recipe, byte_span bytes) {
  return to_hex(fingerprinter::make(recipe).value()(bytes).value());
}

struct vectors {
  fingerprint_kind kind;
  std::string_view of_nothing;
  std::string_view of_abc;
  std::string_view of_a_million_a;
};

/// From FIPS 180-4 with its examples (NIST), and RFC 1321.
constexpr vectors published[] = {
    {fingerprint_kind::none, "", "", ""},
    {fingerprint_kind::sha1, "da39a3ee5e6b4b0d3255bfef95601890afd80709", "a9993e364706816aba3e25717850c26c9cd0d89d",
     "34aa973cd4c4daa4f61eeb2bdbad27316534016f"},
    {fingerprint_kind::sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
     "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    {fingerprint_kind::sha512_256, "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a",
     "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23",
     "9a59a052930187a97038cae692f30708aa6491923ef5194394dc68d56c74fb21"},
    {fingerprint_kind::md5, "d41d8cd98f00b204e9800998ecf8427e", "900150983cd24fb0d6963f7d28e17f72",
     "7707d6ae4e027c70eea2a935c2296f21"},
};

TEST(fingerprint, equals_published_vectors) {
  for (const vectors& v : published) {
    EXPECT_EQ(hex_of(v.kind, {}), v.of_nothing);
    EXPECT_EQ(hex_of(v.kind, as_bytes("abc")), v.of_abc);
    EXPECT_EQ(hex_of(v.kind, as_bytes(std::string(1'000'000, 'a'))), v.of_a_million_a);
  }
}

/// Makes the buffer of xxHash's own sanity check.
std::vector<std::uint8_t> xxhash_sanity_bytes(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  std::uint64_t state = 2654435761;
  for (std::uint8_t& byte : bytes) {
    byte = static_cast<std::uint8_t>(state >> 56);
    state *= 11400714785074694797u;
  }
  return bytes;
}

TEST(fingerprint, equals_xxhashs_own_sanity_check) {
  struct known {
    std::size_t size;
    std::string_view hex;
  };
  for (const known& k : {known{0, "99aa06d3014798d86001c324468d497f"}, known{1, "a6cd5e9392000f6ac44bdff4074eecdb"},
                         known{6, "082afe0b8162d12a3e7039bdda43cfc6"}, known{12, "6e3efd8fc7802b18061a192713f69ad9"},
                         known{24, "0ce966e4678d37611e7044d28b1b901d"}, known{48, "a002ac4e5478227ef942219aed80f67b"},
                         known{81, "4952f58181ab00425e8bafb9f95fb803"}, known{222, "337e09641b948717f1aebd597cec6b3a"},
                         known{403, "1b6de21e332dd73dcdeb804d65c6dea4"}, known{512, "18d2d110dcc9bca1617e49599013cb6b"},
                         known{2048, "f736557fd47073a5dd59e2c3a5f038e0"}}) {
    EXPECT_EQ(hex_of(fingerprint_kind::xxh3, xxhash_sanity_bytes(k.size)), k.hex) << k.size << " bytes";
  }
}

TEST(fingerprint, depends_neither_on_alignment_nor_on_what_was_fingerprinted_before) {
  seeded_choices random(1);
  const auto bytes = make_stream(content::random, 5000, random);
  for (const fingerprint_info& info : fingerprints()) {
    auto reused = *fingerprinter::make(info.kind);
    for (int round = 0; round < 50; ++round) {
      const byte_span shifted = byte_span(bytes).subspan(random.between(0, 15), random.between(0, 4900));
      const std::vector<std::uint8_t> copy(shifted.begin(), shifted.end());
      EXPECT_EQ(to_hex(*reused(shifted)), hex_of(info.kind, copy)) << info.name;
    }
    auto moved = std::move(reused);
    EXPECT_EQ(moved.kind(), info.kind);
    EXPECT_EQ(to_hex(*moved(as_bytes("abc"))), hex_of(info.kind, as_bytes("abc"))) << info.name;
  }
}

TEST(fingerprint, is_listed_with_its_number_size_and_resistance) {
  std::vector<std::string> listed;
  for (const fingerprint_info& info : fingerprints()) {
    EXPECT_EQ(static_cast<std::size_t>(info.kind), listed.size());
    EXPECT_EQ(*parse_fingerprint(info.name), info.kind);
    listed.emplace_back(info.name);
    const bool resists = info.kind == fingerprint_kind::sha256 || info.kind == fingerprint_kind::sha512_256 ||
                         info.kind == fingerprint_kind::blake3;
    EXPECT_EQ(info.resists_collisions, resists) << info.name;
    const digest value = *(*fingerprinter::make(info.kind))(as_bytes("abc"));
    EXPECT_EQ(value.view().size(), info.digest_bytes) << info.name;
    for (std::size_t i = info.digest_bytes; i < largest_digest_bytes; ++i) EXPECT_EQ(value.bytes[i], 0) << info.name;
  }
  EXPECT_EQ(listed, (std::vector<std::string>{"none", "sha1", "sha256", "sha512-256", "md5", "xxh3", "blake3"}));
}

TEST(fingerprint, unknown_names_get_the_nearest_or_the_choice) {
  EXPECT_EQ(parse_fingerprint("sha512256").error().code(), status_code::unknown_name);
  EXPECT_THAT(parse_fingerprint("sha512256").error().message(), HasSubstr("did you mean 'sha512-256'"));
  EXPECT_THAT(parse_fingerprint("").error().message(),
              HasSubstr("there are sha256, sha512-256, blake3, none, sha1, md5, xxh3"));
  EXPECT_THAT(parse_fingerprint("sha3").error().message(), Not(HasSubstr("did you mean")));
}

fingerprint_key vector_key() {
  fingerprint_key key = {};
  std::copy(blake3_vector_key.begin(), blake3_vector_key.end(), key.begin());
  return key;
}

TEST(blake3, equals_its_published_vectors) {
  seeded_choices random(1);
  for (const blake3_vector& v : blake3_vectors) {
    const auto bytes = make_stream(content::cycle_251, v.size, random);
    EXPECT_EQ(hex_of(fingerprint_kind::blake3, bytes), v.hash) << v.size << " bytes";
    EXPECT_EQ(hex_of({fingerprint_kind::blake3, vector_key()}, bytes), v.keyed_hash) << v.size << " bytes";
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
