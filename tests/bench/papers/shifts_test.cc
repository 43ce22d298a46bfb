// Shifts of bytes: the chunks that change are those that differ when the whole changed stream is cut again.
#include "bench/papers/shifts.h"

#include <algorithm>
#include <random>

#include <cutpoint/catalog.h>
#include <gtest/gtest.h>

namespace cutpoint::bench {

namespace {

std::vector<std::uint8_t> random_stream(std::size_t size) {
  std::mt19937_64 random(7);
  std::vector<std::uint8_t> bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() >> 11);
  return bytes;
}

const std::vector<std::string> every_kind = {
    "gear(min_bytes=256,avg_bytes=512,max_bytes=2048)",
    "rabin(min_bytes=256,avg_bytes=512,max_bytes=2048)",
    "tttd(min_bytes=256,avg_bytes=512,max_bytes=1024)",
    "fastcdc(min_bytes=256,avg_bytes=512,max_bytes=2048)",
    "maxp(avg_bytes=1024)",
    "ae(avg_bytes=1024)",
    "ae(avg_bytes=1024,value_bytes=8)",
    "ram(avg_bytes=1024)",
    "seqcdc(avg_bytes=1024,seq_length=4,skip_trigger=20,skip_size=64)",
    "mincdc(min_bytes=256,avg_bytes=640,max_bytes=1024)",
    "fixed(avg_bytes=1000)",
};

/// The chunks of the changed stream that the stream does not have at the same place, by cutting all of it.
shift_outcome cut_anew(const chunker& cuts, const std::vector<std::uint8_t>& stream, const shift& change) {
  std::vector<std::uint8_t> edited(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(change.offset));
  edited.insert(edited.end(), change.inserted.begin(), change.inserted.end());
  const std::uint64_t past = edited.size();
  const std::uint64_t resumed = change.offset + change.deleted;
  edited.insert(edited.end(), stream.begin() + static_cast<std::ptrdiff_t>(resumed), stream.end());
  const auto chunks = cuts.find_cuts(stream);
  shift_outcome outcome;
  for (const chunk& each : cuts.find_cuts(edited)) {
    const bool is_after = each.offset >= past;
    const bool is_before = each.offset + each.length <= change.offset;
    const chunk same{is_after ? each.offset - past + resumed : each.offset, each.length};
    if ((is_after || is_before) && std::find(chunks.begin(), chunks.end(), same) != chunks.end()) continue;
    ++outcome.changed;
    outcome.after += is_after ? 1U : 0U;
  }
  return outcome;
}

TEST(byte_shifts, changed_chunks_are_those_of_the_whole_changed_stream) {
  const auto stream = random_stream(120'000);
  std::mt19937_64 random(3);
  for (const std::string& text : every_kind) {
    const chunker cuts = *parse_canonical(text);
    const auto chunks = cuts.find_cuts(stream);
    for (int i = 0; i < 40; ++i) {
      shift change{.offset = random() % stream.size(), .inserted = {}, .deleted = 0};
      if (i % 2 == 0) {
        change.inserted.resize(1 + random() % 300);
        for (std::uint8_t& byte : change.inserted) byte = static_cast<std::uint8_t>(random());
      } else {
        change.deleted = 1 + random() % std::min<std::uint64_t>(300, stream.size() - change.offset);
      }
      const shift_outcome outcome = changed_chunks(cuts, stream, chunks, change, stream.size());
      const shift_outcome expected = cut_anew(cuts, stream, change);
      EXPECT_EQ(outcome.changed, expected.changed) << text << " at " << change.offset;
      EXPECT_EQ(outcome.after, expected.after) << text << " at " << change.offset;
      EXPECT_TRUE(outcome.meets) << text;
    }
  }
}

TEST(byte_shifts, a_horizon_that_is_too_near_is_told) {
  const auto stream = random_stream(60'000);
  const chunker fixed = *parse_canonical("fixed(avg_bytes=1000)");
  const shift change{.offset = 500, .inserted = {1}, .deleted = 0};
  EXPECT_FALSE(changed_chunks(fixed, stream, fixed.find_cuts(stream), change, 5000).meets);
}

TEST(byte_shifts, places_lie_where_the_paper_draws_them) {
  const auto stream = random_stream(400'000);
  const chunker cuts = *parse_canonical("seqcdc(avg_bytes=1024,seq_length=4,skip_trigger=20,skip_size=64)");
  bool has_skipped = false;
  for (const chunk& each : cuts.find_cuts(stream)) {
    if (each.offset + each.length == stream.size()) break;
    const offset_range minimum = place_in(cuts, stream, each, shift_place::minimum);
    const offset_range sequence = place_in(cuts, stream, each, shift_place::sequence);
    const offset_range skipped = place_in(cuts, stream, each, shift_place::skipped);
    const offset_range maximum = place_in(cuts, stream, each, shift_place::maximum);
    if (each.length == 2048) {
      EXPECT_EQ(maximum.first, each.offset);
      EXPECT_TRUE(sequence.is_empty());
      continue;
    }
    EXPECT_TRUE(maximum.is_empty());
    EXPECT_EQ(minimum.last - minimum.first, 512U - 5);
    EXPECT_EQ(sequence.last, each.offset + each.length);
    for (std::uint64_t i = sequence.first + 1; i < sequence.last; ++i) EXPECT_GT(stream[i], stream[i - 1]);
    if (skipped.is_empty()) continue;
    has_skipped = true;
    EXPECT_LE(skipped.last, sequence.first);
  }
  EXPECT_TRUE(has_skipped);
}

TEST(byte_shifts, before_the_maximum_of_ae_one_chunk_changes) {
  const auto stream = random_stream(1 << 20);
  const chunker cuts = *parse_canonical("ae(avg_bytes=1024,value_bytes=8)");
  for (const bool is_insertion : {true, false}) {
    const shift_tally before = tally_shifts(cuts, stream, shift_place::between, is_insertion, 200, 1);
    EXPECT_EQ(before.shifts, 200U);
    EXPECT_GE(before.with_one_after, 190U);
    EXPECT_EQ(before.without_meeting, 0U);
  }
  EXPECT_EQ(tally_shifts(cuts, stream, shift_place::minimum, true, 10, 1).shifts, 0U) << "AE has no minimum";
  EXPECT_EQ(tally_shifts(cuts, stream, shift_place::window, true, 10, 1).shifts, 10U);
}

}  // namespace

}  // namespace cutpoint::bench
