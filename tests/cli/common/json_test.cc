// JSON of our own has the same text as that of nlohmann's library, and reads what that reads.
#include "cli/common/json.h"

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace cutpoint::cli {
namespace {

using nlohmann::ordered_json;

constexpr auto replace = ordered_json::error_handler_t::replace;

const std::vector<std::string> odd_texts = {"",
                                            "plain",
                                            "\"quoted\"",
                                            "back\\slash",
                                            "\x01\x1f\x7f",
                                            "\n\r\t\b\f",
                                            "\xc3\xa9",
                                            "\xff",
                                            "a\xc3",
                                            "\xe2\x82",
                                            "\xf0\x9f\x98\x80",
                                            "\xed\xa0\x80",
                                            "\xc0\x80x",
                                            "\xf5\x80\x80\x80",
                                            "\xe2(\xa1",
                                            "\xc2\x80\xc2\x9f",
                                            "a/b",
                                            std::string("a\0b", 3),
                                            "~}{|",
                                            "\xef\xbf\xbd"};

const std::vector<double> odd_numbers = {
    0.0,  -0.0,   1.0,    0.1,  1.0 / 3, 1e15, 1e16,    123456789012345680.0, 1e-4,
    1e-5, 5e-324, 1e308,  -2.5, 0.875,   1e21, 1.5e300, 4503599627370497.5,   100.0,
    1e22, 9e-10,  2.2e-16};

TEST(json, has_the_text_of_the_library) {
  json ours = json::array();
  ordered_json theirs = ordered_json::array();
  for (const std::string& text : odd_texts) {
    ours.push_back(json{{"text", text}, {"in", {{"key of \"" + text, text}, {"more", json::array()}}}});
    theirs.push_back(
        ordered_json{{"text", text}, {"in", {{"key of \"" + text, text}, {"more", ordered_json::array()}}}});
  }
  for (const double number : odd_numbers) {
    ours.push_back(number);
    theirs.push_back(number);
  }
  for (const double number : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    ours.push_back(number);
    theirs.push_back(number);
  }
  ours.push_back(
      {{"most", UINT64_MAX}, {"least", INT64_MIN}, {"small", std::uint8_t{7}}, {"yes", true}, {"no", nullptr}});
  theirs.push_back(
      {{"most", UINT64_MAX}, {"least", INT64_MIN}, {"small", std::uint8_t{7}}, {"yes", true}, {"no", nullptr}});
  ours.push_back(json::object());
  theirs.push_back(ordered_json::object());
  ours.push_back({"a", "b"});  // a list of two texts is no object
  theirs.push_back({"a", "b"});
  ours.push_back(odd_texts);
  theirs.push_back(odd_texts);
  EXPECT_EQ(json_text(ours), theirs.dump(2, ' ', false, replace) + '\n');
  EXPECT_EQ(json_line(ours), theirs.dump(-1, ' ', false, replace) + '\n');
  for (const std::string& text : odd_texts) {
    EXPECT_EQ(json_string(text), ordered_json(text).dump(-1, ' ', false, replace));
  }
}

TEST(json, keeps_the_order_of_keys) {
  json ours = {{"z", 1}, {"a", 2}};
  ours["m"] = "new";
  ours["z"] = 3;
  ours.update({{"a", nullptr}, {"b", std::vector<std::uint64_t>{1, 2}}});
  EXPECT_EQ(json_line(ours), "{\"z\":3,\"a\":null,\"m\":\"new\",\"b\":[1,2]}\n");
}

TEST(json, is_read_as_the_library_reads_it) {
  const std::vector<std::string> texts = {"null",
                                          "true",
                                          " [1, -2, 3.5, \"\\u00e9\\ud83d\\ude00\"] ",
                                          "{\"a\": {\"b\": []}, \"c\": {}, \"a\": 1}",
                                          "18446744073709551615",
                                          "18446744073709551616",
                                          "-9223372036854775808",
                                          "1e999",
                                          "-0",
                                          "[1,]",
                                          "{\"a\"}",
                                          "",
                                          "[",
                                          "nul",
                                          "\"\xff\"",
                                          "1 2",
                                          "{\"a\":1}x",
                                          "01",
                                          "[[[[1]]]]",
                                          "\xef\xbb\xbf{}",
                                          "'a'",
                                          "// c\n1"};
  for (const std::string& text : texts) {
    const ordered_json theirs = ordered_json::parse(text, nullptr, false);
    const std::optional<json> ours = parse_json(text);
    ASSERT_EQ(ours.has_value(), !theirs.is_discarded()) << text;
    if (ours) {
      EXPECT_EQ(json_line(*ours), theirs.dump() + '\n') << text;
    }
  }
}

TEST(json, is_refused_with_a_thousand_levels) {
  EXPECT_TRUE(parse_json(std::string(999, '[') + std::string(999, ']')).has_value());
  EXPECT_FALSE(parse_json(std::string(1000, '[') + std::string(1000, ']')).has_value());
  EXPECT_FALSE(parse_json(std::string(1'000'000, '[')).has_value());
}

TEST(json, says_what_it_has) {
  const json whole = *parse_json(R"({"text": "t", "list": [1], "number": 2.0, "negative": -1})");
  EXPECT_TRUE(whole.is_object());
  EXPECT_EQ(*whole.find("text")->text(), "t");
  EXPECT_EQ(whole.find("list")->elements().at(0).unsigned_number(), 1u);
  EXPECT_EQ(whole.find("number")->number(), 2.0);
  EXPECT_EQ(whole.find("number")->unsigned_number(), std::nullopt);
  EXPECT_EQ(whole.find("negative")->unsigned_number(), std::nullopt);
  EXPECT_EQ(whole.find("negative")->number(), -1.0);
  EXPECT_EQ(whole.find("other"), nullptr);
  EXPECT_EQ(whole.find("text")->find("text"), nullptr);
  EXPECT_EQ(whole.text(), nullptr);
  EXPECT_TRUE(whole.elements().empty());
}

TEST(json, adds_the_bytes_of_text_that_is_not_utf8) {
  json record;
  add_text(record, "good", "\xc3\xa9");
  add_text(record, "bad", "a\xff");
  add_texts(record, "all", {"a", "\xfe"});
  EXPECT_EQ(json_line(record),
            "{\"good\":\"\xc3\xa9\",\"bad\":\"a\xef\xbf\xbd\",\"bad_hex\":\"61ff\","
            "\"all\":[\"a\",\"\xef\xbf\xbd\"],\"all_hex\":[\"61\",\"fe\"]}\n");
}

}  // namespace
}  // namespace cutpoint::cli
