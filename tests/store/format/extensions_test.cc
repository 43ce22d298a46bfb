// Readers pass over extensions that need not be known, and refuse others.
#include "store/format/extensions.h"

#include <gtest/gtest.h>

namespace cutpoint::tests {
namespace {

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
