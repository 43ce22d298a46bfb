// The golden files are read, and the same records give the same bytes. tests/store/data/make_goldens.py made them.
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "store/format/fields.h"
#include "store/index/shard.h"
#include "tests/host/support/tests_folder.h"
#include "tests/store/support/containers.h"
#include "tests/store/support/made_store.h"

namespace cutpoint::tests {
namespace {

std::vector<std::uint8_t> golden_file(const std::string& name) {
  std::ifstream file(tests_folder() + "/store/data/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

nlohmann::json expected() {
  const auto text = golden_file("expected.json");
  return nlohmann::json::parse(text.begin(), text.end());
}

std::vector<std::uint8_t> from_hex(const std::string& text) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

struct golden_container {
  const char* name;
  bool is_encrypted;
};

class golden : public testing::TestWithParam<golden_container> {};
INSTANTIATE_TEST_SUITE_P(every, golden,
                         testing::Values(golden_container{"container-checksums", false},
                                         golden_container{"container-encrypted", true}),
                         [](const auto& tested) { return tested.param.is_encrypted ? "encrypted" : "checksums"; });

TEST_P(golden, containers_are_read_and_made_again) {
  const store::seal_key key = GetParam().is_encrypted ? store::seal_key(numbered_key(0)) : store::seal_key();
  const auto bytes = golden_file(GetParam().name + std::string(".bin"));
  const nlohmann::json facts = expected();
  digest name;
  const auto blake3 = blake3_fingerprinter();
  blake3->submit(bytes, name);
  ASSERT_TRUE(blake3->flush().ok());
  EXPECT_EQ(to_hex(name), facts[GetParam().name]);

  const auto table = value_of(store::decode_container_table(bytes, to_hex(name), key));
  ASSERT_EQ(table.records.size(), facts["contents"].size() + (GetParam().is_encrypted ? 1 : 0));
  EXPECT_EQ(store::recover_records(bytes, to_hex(name), key).records, table.records);
  store::record_opener opener(table.salt, key);
  const auto frame = from_hex("28b52ffd0058431f007a");
  store::container_builder builder(MiB);
  for (std::size_t i = 0; i < facts["contents"].size(); ++i) {
    const store::record_description& description = table.records[i].description;
    const auto content = content_of(bytes, table.records[i], opener);
    ASSERT_TRUE(content) << i;
    EXPECT_EQ(*content, from_hex(facts["contents"][i])) << i;
    EXPECT_EQ(description.content, digest_of(*content));
    builder.append(description, description.codec == store::record_codec::zstd ? frame : *content);
  }
  EXPECT_EQ(value_of(std::move(builder).build(key, table.salt, *blake3_fingerprinter())).bytes, bytes);
}

TEST(golden_shard, is_read) {
  const made_store disk_store;
  const auto objects = disk_store.open_storage("w");
  const store::object_name name{store::object_kind::shard, "golden"};
  ASSERT_TRUE(objects->put(name, golden_file("shard.bin")).ok());
  const auto opened_shard = value_of(store::shard::open(*objects->open(name), "golden"));
  EXPECT_TRUE(*opened_shard.is_intact());
  EXPECT_EQ(opened_shard.partition_count(), 4u);
  EXPECT_EQ(opened_shard.entry_count(), 12u);
  const nlohmann::json facts = expected();
  std::vector<store::shard_entry> entries;
  for (std::uint32_t i = 0; i < 6; ++i) {
    entries.clear();
    store::shard_blocks blocks;
    ASSERT_TRUE(opened_shard.find(store::prefix_of(digest_of(from_hex(facts["contents"][i]))), blocks, entries).ok());
    ASSERT_EQ(entries.size(), 2u);  // in both containers
    for (const store::shard_entry& each : entries) {
      EXPECT_EQ(each.ordinal, i);
      const store::shard_container& container = opened_shard.container_at(each.container);
      const std::string id = store::id_of(container.name).substr(33);
      EXPECT_TRUE(id == facts["container-checksums"] || id == facts["container-encrypted"]);
      EXPECT_EQ(container.bytes,
                golden_file(id == facts["container-checksums"] ? "container-checksums.bin" : "container-encrypted.bin")
                    .size());
    }
  }
}

// Readers pass over extensions that need not be known, and refuse others.

std::vector<std::uint8_t> extensions_of(std::vector<std::uint16_t> types) {
  std::vector<std::uint8_t> bytes;
  store::field_writer fields(bytes);
  fields.number(static_cast<std::uint16_t>(types.size()));
  for (const std::uint16_t type : types) fields.number(type).number(std::uint32_t{3}).zeros(3);
  return bytes;
}

bool knows_none(std::uint16_t, byte_span) { return false; }

TEST(extensions, that_need_not_be_known_are_passed_over) {
  for (const auto& types : {std::vector<std::uint16_t>{}, {0}, {1, 0x7fff}}) {
    const auto bytes = extensions_of(types);
    store::field_reader fields(bytes);
    EXPECT_TRUE(store::read_extensions(fields, "config", knows_none).ok());
    EXPECT_TRUE(fields.ok());
    EXPECT_EQ(fields.remaining(), 0u);
  }
}

TEST(extensions, that_must_be_known_are_refused) {
  const auto bytes = extensions_of({1, 0x8000});
  store::field_reader fields(bytes);
  const status refused = store::read_extensions(fields, "config", knows_none);
  EXPECT_EQ(refused.code(), status_code::unavailable);
  EXPECT_NE(refused.message().find("config has an extension of type 32768"), std::string::npos);
}

TEST(extensions, that_are_known_are_taken) {
  const auto bytes = extensions_of({1, 0x8000, 2});
  store::field_reader fields(bytes);
  std::vector<std::uint16_t> types;
  EXPECT_TRUE(store::read_extensions(fields, "config", [&](std::uint16_t type, byte_span content) {
                types.push_back(type);
                EXPECT_EQ(content.size(), 3u);
                return type == 0x8000;
              }).ok());
  EXPECT_EQ(types, (std::vector<std::uint16_t>{1, 0x8000, 2}));
}

TEST(extensions, that_are_cut_off_are_seen) {
  const auto bytes = extensions_of({1, 2});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    store::field_reader fields(byte_span(bytes).first(size));
    EXPECT_TRUE(store::read_extensions(fields, "config", knows_none).ok());
    EXPECT_FALSE(fields.ok());
  }
}

}  // namespace
}  // namespace cutpoint::tests
