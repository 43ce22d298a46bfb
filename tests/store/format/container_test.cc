// Containers give back their records, hide them if encrypted, and lose only the records whose bytes are damaged.
#include "store/format/container.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "store/format/failure.h"
#include "store/format/sealer.h"
#include "store/storage/directory_storage.h"
#include "tests/host/support/choices.h"
#include "tests/host/support/value_of.h"
#include "tests/store/support/containers.h"
#include "tests/store/support/volatile_file_system.h"

namespace cutpoint::tests {
namespace {

using store::container_table;
using store::placed_record;
using store::record_kind;
using store::seal_key;

/// Every case runs with checksums and encrypted.
class container : public testing::TestWithParam<bool> {
 protected:
  seal_key key_ = GetParam() ? seal_key(numbered_key(1)) : seal_key();
};

INSTANTIATE_TEST_SUITE_P(with, container, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "encryption" : "checksums"; });

TEST_P(container, gives_back_its_records) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const made_container expected = make_container(seed, key_, seed * 7, seed == 19 ? 400'000 : 3000);
    const auto table = value_of(store::decode_container_table(expected.built.bytes, expected.id, key_));
    EXPECT_EQ(table.records, expected.built.records);
    ASSERT_EQ(table.records.size(), expected.contents.size() + (GetParam() ? 1 : 0));
    store::record_opener opener(table.salt, key_);
    for (std::size_t i = 0; i < expected.contents.size(); ++i) {
      EXPECT_EQ(content_of(expected.built.bytes, table.records[i], opener), expected.contents[i]);
      EXPECT_EQ(table.records[i].description.content, digest_of(expected.contents[i]));
    }
    EXPECT_LE(expected.built.bytes.size(), MiB);
  }
}

TEST_P(container, is_read_by_ranges_of_its_object) {
  const auto files = std::make_shared<volatile_file_system>();
  ASSERT_TRUE(store::make_storage_folders(*files).ok());
  const auto objects = store::open_directory_storage(files, {.writer_id = "w", .pending_objects = 0});
  for (const std::uint64_t chunk_count : {0u, 1u, 10u, 3000u}) {  // the last has a trailer longer than the first read
    const made_container expected = make_container(chunk_count, key_, chunk_count, 60);
    ASSERT_TRUE(objects->put({store::object_kind::container, expected.id}, expected.built.bytes).ok());
    for (const std::uint64_t first_read_bytes : {0u, 200u, 3000u, 1u << 30}) {
      const auto read = value_of(store::read_container_table(*objects, expected.id, key_, first_read_bytes));
      EXPECT_EQ(read.records, expected.built.records) << first_read_bytes;
    }
    const auto table = value_of(store::read_container_table(*objects, expected.id, key_));
    EXPECT_EQ(table.records, expected.built.records);
    for (std::size_t i = 0; i < expected.contents.size(); i += 97) {
      EXPECT_EQ(value_of(store::read_record(*objects, table, table.records[i], key_)), expected.contents[i]);
    }
  }
  EXPECT_TRUE(store::is_absence(store::read_container_table(*objects, "00", key_).error()));
}

TEST_P(container, is_filled_up_to_its_length) {
  constexpr std::uint64_t length = 64 * KiB;
  const made_container expected = make_container(1, key_, 10'000, 500, length);
  EXPECT_LE(expected.built.bytes.size(), length);
  EXPECT_GE(expected.built.bytes.size(), length - 2 * KiB);
  store::container_builder builder(length);
  EXPECT_TRUE(builder.has_room(length)) << "an empty builder takes any record";
}

TEST_P(container, belongs_to_the_key_that_sealed_it) {
  const made_container expected = make_container(1, key_, 5, 100);
  const seal_key other = GetParam() ? seal_key() : seal_key(numbered_key(1));
  EXPECT_EQ(store::decode_container_table(expected.built.bytes, expected.id, other).error().code(),
            status_code::invalid_argument);
  if (GetParam()) {
    EXPECT_TRUE(store::is_damage(
        store::decode_container_table(expected.built.bytes, expected.id, seal_key(numbered_key(2))).error()));
  }
}

/// Returns how many times content that does not equal the original is recovered, and counts what is recovered.
std::size_t wrong_contents(const made_container& expected, const std::vector<std::uint8_t>& damaged,
                           const seal_key& key, std::map<std::uint64_t, bool>& recovered) {
  std::size_t wrong = 0;
  const container_table found_table = store::recover_records(damaged, expected.id, key);
  if (found_table.records.empty()) return 0;
  store::record_opener opener(found_table.salt, key);
  for (const placed_record& each : found_table.records) {
    const auto original = std::find(expected.built.records.begin(), expected.built.records.end(), each);
    if (original == expected.built.records.end()) {
      ++wrong;
      continue;
    }
    const auto index = static_cast<std::size_t>(original - expected.built.records.begin());
    const auto content = content_of(damaged, each, opener);
    if (index < expected.contents.size() && content != expected.contents[index]) ++wrong;
    recovered[each.position] = true;
  }
  return wrong;
}

TEST_P(container, loses_only_the_record_whose_byte_is_flipped) {
  const made_container expected = make_container(3, key_, 12, 120);
  const std::vector<std::uint8_t>& bytes = expected.built.bytes;
  const auto name = digest_of(bytes);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::vector<std::uint8_t> damaged = bytes;
    damaged[at] ^= static_cast<std::uint8_t>(1u << at % 8);
    EXPECT_NE(digest_of(damaged), name);
    std::map<std::uint64_t, bool> recovered;
    ASSERT_EQ(wrong_contents(expected, damaged, key_, recovered), 0u) << "byte " << at;
    for (const placed_record& each : expected.built.records) {
      const std::size_t end = each.position + store::record_bytes(each.description.stored_bytes);
      ASSERT_EQ(recovered.contains(each.position), at < each.position || at >= end) << "byte " << at;
    }
  }
}

TEST_P(container, gives_what_a_truncation_leaves) {
  const made_container expected = make_container(4, key_, 12, 120);
  for (std::size_t size = 0; size < expected.built.bytes.size(); ++size) {
    const std::vector<std::uint8_t> damaged(expected.built.bytes.begin(),
                                            expected.built.bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(store::decode_container_table(damaged, expected.id, key_).ok());
    std::map<std::uint64_t, bool> recovered;
    ASSERT_EQ(wrong_contents(expected, damaged, key_, recovered), 0u);
    for (const placed_record& each : expected.built.records) {
      const std::size_t end = each.position + store::record_bytes(each.description.stored_bytes);
      ASSERT_EQ(recovered.contains(each.position), end <= size) << "truncated to " << size;
    }
  }
}

TEST_P(container, survives_random_damage) {
  seeded_choices random(7);
  const made_container expected = make_container(5, key_, 40, 400);
  for (int round = 0; round < case_count(300); ++round) {
    std::vector<std::uint8_t> damaged = expected.built.bytes;
    for (std::uint64_t i = random.between(1, 5); i > 0; --i) {
      const std::size_t begin = random.between(0, damaged.size() - 1);
      const std::size_t end = std::min<std::size_t>(begin + random.between(1, 200), damaged.size());
      for (std::size_t at = begin; at < end; ++at) damaged[at] = static_cast<std::uint8_t>(random.word());
    }
    std::map<std::uint64_t, bool> recovered;
    ASSERT_EQ(wrong_contents(expected, damaged, key_, recovered), 0u);
    const auto table = store::decode_container_table(damaged, expected.id, key_);
    if (table) {
      EXPECT_EQ(table->records, expected.built.records);
    }
  }
}

TEST(encrypted_container, looks_like_random_bytes_of_few_lengths) {
  // Without the key, all bytes between the two headers are as good as random: no zero padding, no lengths.
  const made_container sealed = make_container(1, seal_key(numbered_key(1)), 300, 2000);
  std::array<std::size_t, 256> counts = {};
  const std::size_t size = sealed.built.bytes.size();
  for (std::size_t i = 64; i < size - 64; ++i) ++counts[sealed.built.bytes[i]];
  const double expected = static_cast<double>(size - 128) / 256;
  double chi_square = 0;
  for (const std::size_t count : counts) {
    chi_square += (static_cast<double>(count) - expected) * (static_cast<double>(count) - expected) / expected;
  }
  EXPECT_LT(chi_square, 400) << "255 degrees of freedom";
  EXPECT_EQ(store::padded_container_bytes(size), size);
}

TEST(encrypted_container, is_padded_by_little) {
  for (std::uint64_t bytes = 400; bytes < 40 * MiB; bytes += bytes / 7 + 1) {
    const std::uint64_t padded = store::padded_container_bytes(bytes);
    EXPECT_GE(padded, bytes);
    EXPECT_LE(padded, bytes + bytes / 8 + 16);
    EXPECT_EQ(padded % 16, 0u);
    EXPECT_EQ(store::padded_container_bytes(padded), padded);
  }
}

TEST(container_bounds, hold_for_descriptions) {
  const store::record_description good{record_kind::chunk, store::record_codec::zstd, 100, 50, digest_of({})};
  const auto decoded_with = [&](std::size_t position, std::uint8_t value) {
    std::vector<std::uint8_t> bytes;
    store::encode_description(good, 1, bytes);
    EXPECT_EQ(bytes.size(), store::description_bytes);
    bytes[position] = value;
    store::record_description decoded;
    return store::decode_description(bytes, decoded).has_value();
  };
  EXPECT_TRUE(decoded_with(0, 9));
  EXPECT_FALSE(decoded_with(4, 0)) << "kind";
  EXPECT_FALSE(decoded_with(4, 4)) << "kind";
  EXPECT_FALSE(decoded_with(5, 2)) << "codec";
  EXPECT_FALSE(decoded_with(5, 0)) << "raw content has the payload's length";
  EXPECT_FALSE(decoded_with(6, 33)) << "digest size";
  EXPECT_FALSE(decoded_with(7, 1)) << "zero";
  EXPECT_FALSE(decoded_with(11, 0x80)) << "raw length";
  EXPECT_FALSE(decoded_with(12, 101)) << "stored length";
}

TEST(container_header, of_another_version_is_not_damage) {
  auto header = store::encode(store::object_header{store::object_kind::container, store::seal_kind::checksum, {}});
  EXPECT_TRUE(store::decode_header(header, store::object_kind::container, "x").ok());
  EXPECT_TRUE(store::is_damage(store::decode_header(header, store::object_kind::snapshot, "x").error()));
  header[12] ^= 1;
  EXPECT_TRUE(store::is_damage(store::decode_header(header, store::object_kind::container, "x").error()));
  const auto tag = store::checksum(byte_span(header).first(48), 0);
  std::copy(tag.begin(), tag.end(), header.begin() + 48);
  EXPECT_EQ(store::decode_header(header, store::object_kind::container, "x").error().code(), status_code::unavailable);
}

TEST(compression, is_given_up_where_it_does_not_pay) {
  seeded_choices random(1);
  store::compressor compress(1);
  std::vector<std::uint8_t> frame;
  for (const std::size_t size : {0u, 1u, 100u, 4096u, 16383u, 16384u, 100'000u}) {
    EXPECT_FALSE(compress.compress(make_stream(content::random, size, random), frame)) << size;
    const auto text = make_stream(content::text, size, random);
    const bool pays = compress.compress(text, frame);
    if (size >= 4096) {
      EXPECT_TRUE(pays);
    }
    if (!pays) continue;
    std::vector<std::uint8_t> back(size);
    EXPECT_TRUE(store::decompress(frame, back));
    EXPECT_EQ(back, text);
    std::vector<std::uint8_t> shorter(size - 1);
    EXPECT_FALSE(store::decompress(frame, shorter)) << "a frame with more content than its record says";
    std::vector<std::uint8_t> longer(size + 1);
    EXPECT_FALSE(store::decompress(frame, longer));
  }
}

}  // namespace
}  // namespace cutpoint::tests
