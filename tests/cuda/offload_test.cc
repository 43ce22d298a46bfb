// Whole batches on the host that stands in for a device: copied in, cut, fingerprinted, copied out.
#include "cuda/offload.h"

#include <random>

#include <cutpoint/catalog.h>
#include <gtest/gtest.h>

#include "tests/cuda/support/host_offload.h"

namespace cutpoint::cuda {
namespace {

std::vector<std::uint8_t> random_bytes(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> bytes(size);
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random());
  return bytes;
}

chunker small_gear() { return *chunker::make(gear_parameters{.avg_bytes = 256, .min_bytes = 64, .max_bytes = 1024}); }

/// Streams that end, one after the other in a batch, some of them empty to the batch since it has none of their bytes.
struct packed_streams {
  std::vector<byte_span> parts;
  std::vector<piece> pieces;

  void add(byte_span stream) {
    const std::uint64_t begin = pieces.empty() ? 0 : pieces.back().end;
    parts.push_back(stream);
    pieces.push_back(
        {.begin = begin, .start = begin, .stop = begin + stream.size(), .end = begin + stream.size(), .ends = 1});
  }
};

/// Lengths and digests of a stream as the references give them.
void expect_stream(const batch_output& found, const piece_chunks& of, byte_span stream, const chunker& cuts,
                   const fingerprint_recipe& recipe) {
  auto print = *fingerprinter::make(recipe);
  const std::vector<chunk> expected = cuts.find_cuts(stream);
  ASSERT_EQ(of.count, expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(found.lengths[of.first + i], expected[i].length) << "chunk " << i;
    const digest made = *print(stream.subspan(expected[i].offset, expected[i].length));
    const auto digests = found.digests.subspan((of.first + i) * made.size, made.size);
    ASSERT_TRUE(std::equal(digests.begin(), digests.end(), made.bytes.begin())) << "chunk " << i;
  }
}

TEST(offload, cuts_and_fingerprints_packed_streams_in_one_go) {
  const chunker cuts = small_gear();
  fingerprint_key key;
  key.fill(7);
  for (const fingerprint_recipe& recipe :
       {fingerprint_recipe(fingerprint_kind::sha1), fingerprint_recipe(fingerprint_kind::sha256),
        fingerprint_recipe(fingerprint_kind::blake3), fingerprint_recipe(fingerprint_kind::blake3, key)}) {
    auto made = make_host_offload({.order = thread_order::shuffled(3)}, cuts, recipe, {.bytes = 300'000, .pieces = 16});
    ASSERT_TRUE(made.ok()) << made.error().message();
    for (std::uint64_t batch = 0; batch < 3; ++batch) {  // the memory of one serves the next
      std::vector<std::vector<std::uint8_t>> streams;
      packed_streams packed;
      for (const std::size_t size : {200'000u, 1u, 63u, 64u, 65u, 5'000u, 1'024u, 40'001u}) {
        streams.push_back(random_bytes(size + batch, size + batch));
      }
      for (const auto& stream : streams) packed.add(stream);
      batch_output found;
      const status ran = (*made)->run({.parts = packed.parts, .pieces = packed.pieces}, found);
      ASSERT_TRUE(ran.ok()) << ran.message();
      ASSERT_TRUE(found.is_complete);
      ASSERT_EQ(found.pieces.size(), streams.size());
      for (std::size_t i = 0; i < streams.size(); ++i) {
        EXPECT_EQ(found.pieces[i].next, packed.pieces[i].end);
        expect_stream(found, found.pieces[i], streams[i], cuts, recipe);
      }
    }
  }
}

TEST(offload, stops_where_a_stream_that_goes_on_is_undecided) {
  const chunker cuts = small_gear();
  const auto stream = random_bytes(100'000, 1);
  auto made = make_host_offload({}, cuts, fingerprint_kind::none, {.bytes = 100'000, .pieces = 1});
  ASSERT_TRUE(made.ok());
  const byte_span whole(stream);
  const piece shown{.begin = 0, .start = 0, .stop = 90'000, .end = 95'000, .ends = 0};
  batch_output found;
  const std::array parts{whole.first(50'000), whole.subspan(50'000, 45'000)};
  ASSERT_TRUE((*made)->run({.parts = parts, .pieces = {&shown, 1}}, found).ok());
  std::uint64_t position = 0;
  std::size_t count = 0;
  for (const chunk& each : cuts.find_cuts(stream)) {
    if (each.offset >= shown.stop || shown.end - each.offset < cuts.reach()) break;
    ASSERT_EQ(found.lengths[count++], each.length);
    position += each.length;
  }
  EXPECT_EQ(found.lengths.size(), count);
  EXPECT_EQ(found.pieces.front().next, position);
  EXPECT_GE(position, shown.stop);
  EXPECT_TRUE(found.digests.empty());
}

TEST(offload, takes_no_more_than_its_limits) {
  auto made = make_host_offload({}, small_gear(), fingerprint_kind::none, {.bytes = 1'000, .pieces = 1});
  ASSERT_TRUE(made.ok());
  const auto stream = random_bytes(1'001, 1);
  const byte_span part(stream);
  const piece all{.begin = 0, .start = 0, .stop = 1'001, .end = 1'001, .ends = 1};
  batch_output found;
  const status ran = (*made)->run({.parts = {&part, 1}, .pieces = {&all, 1}}, found);
  EXPECT_EQ(ran.code(), status_code::invalid_argument);
  EXPECT_NE(ran.message().find("1001 bytes"), std::string::npos) << ran.message();
  ASSERT_TRUE((*made)->run({.parts = {}, .pieces = {}}, found).ok());
  EXPECT_TRUE(found.is_complete);
  EXPECT_TRUE(found.lengths.empty());
}

/// Every call of the machine fails once, the first, the second and so on: the error comes out, and nothing is found.
TEST(offload, says_what_failed_whichever_call_it_is) {
  const auto stream = random_bytes(20'000, 1);
  packed_streams packed;
  packed.add(stream);
  for (const fingerprint_kind kind : {fingerprint_kind::none, fingerprint_kind::sha1, fingerprint_kind::blake3}) {
    for (int failing = 0;; ++failing) {
      int calls = 0;
      const auto fail_once = [&](machine_call) {
        return calls++ == failing ? status(status_code::backend_failure, "planted") : status();
      };
      status outcome;
      batch_output found;
      auto made = make_host_offload({.before = fail_once}, small_gear(), kind, {.bytes = 20'000, .pieces = 1});
      outcome = made ? (*made)->run({.parts = packed.parts, .pieces = packed.pieces}, found) : made.error();
      if (calls <= failing) {
        EXPECT_TRUE(outcome.ok());
        EXPECT_GT(calls, 20);
        break;
      }
      EXPECT_EQ(outcome.message(), "planted") << "call " << failing;
      EXPECT_FALSE(found.is_complete);
    }
  }
}

}  // namespace
}  // namespace cutpoint::cuda
