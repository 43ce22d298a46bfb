// Tests that a stream in memory is read once from front to back.
#include <array>
#include <numeric>
#include <vector>

#include <cutpoint/source.h>
#include <gtest/gtest.h>

namespace cutpoint::tests {
namespace {

TEST(memory_source, gives_every_byte_in_order_whatever_is_asked_for) {
  std::vector<std::uint8_t> bytes(1000);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  for (const std::size_t asked :
       {std::size_t{1}, std::size_t{7}, std::size_t{999}, std::size_t{1000}, std::size_t{5000}}) {
    memory_source stream(bytes);
    std::vector<std::uint8_t> got;
    std::vector<std::uint8_t> room(asked);
    for (;;) {
      const auto count = stream.read(room);
      ASSERT_TRUE(count.ok());
      if (*count == 0) break;
      got.insert(got.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*count));
    }
    EXPECT_EQ(got, bytes) << asked;
  }
}

TEST(memory_source, is_at_its_end_for_good) {
  memory_source stream({});
  std::array<std::uint8_t, 4> room = {};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*stream.read(room), 0u);
}

TEST(memory_source, writes_nothing_past_what_it_gives) {
  const std::array<std::uint8_t, 2> bytes = {1, 2};
  memory_source stream(bytes);
  std::array<std::uint8_t, 4> room = {9, 9, 9, 9};
  EXPECT_EQ(*stream.read(room), 2u);
  EXPECT_EQ(room, (std::array<std::uint8_t, 4>{1, 2, 9, 9}));
}

}  // namespace
}  // namespace cutpoint::tests
