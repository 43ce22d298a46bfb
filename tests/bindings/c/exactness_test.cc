// The interface for C gives the chunks of the sequential algorithm, for every name, blocks of any size, and several threads.
#include <cstring>
#include <thread>

#include <cutpoint/fingerprint.h>

#include "tests/bindings/c/handles.h"
#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

std::vector<std::uint8_t> mixed(std::size_t size, std::uint64_t seed) {
  seeded_choices random(seed);
  return make_stream(content::mixed, size, random);
}

/// Returns the chunks that are expected for one stream.
std::vector<cutpoint_chunk> sequential(const chunker& cuts, const std::vector<std::uint8_t>& bytes,
                                       std::uint64_t stream, fingerprint_kind kind) {
  std::vector<cutpoint_chunk> all;
  fingerprinter make = *fingerprinter::make(kind);
  for (const chunk& each : cuts.find_cuts(bytes)) {
    const digest fingerprint = *make(byte_span(bytes).subspan(each.offset, each.length));
    cutpoint_chunk& next = all.emplace_back();
    next = {.stream = stream,
            .offset = each.offset,
            .length = each.length,
            .count = 1,
            .digest_bytes = fingerprint.size,
            .digest = {}};
    std::copy(fingerprint.bytes.begin(), fingerprint.bytes.end(), next.digest);
  }
  return all;
}

/// Adds the equal chunks of a run one by one.
void add_each(std::vector<cutpoint_chunk>& all, cutpoint_chunk chunk) {
  for (std::uint64_t count = std::exchange(chunk.count, 1); count != 0; --count, chunk.offset += chunk.length) {
    all.push_back(chunk);
  }
}

void expect_same(const std::vector<cutpoint_chunk>& chunks, const std::vector<cutpoint_chunk>& expected) {
  ASSERT_EQ(chunks.size(), expected.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    ASSERT_EQ(std::memcmp(&chunks[i], &expected[i], sizeof chunks[i]), 0) << "chunk " << i;
  }
}

class c_of_every_name : public testing::TestWithParam<std::string> {};

TEST_P(c_of_every_name, cuts_a_buffer_as_sequentially) {
  const chunker cuts = chunker_of(GetParam());
  const auto bytes =
      mixed(std::max<std::uint64_t>(1 * MiB, std::min<std::uint64_t>(cuts.reach(), 20 * MiB)) + 4321, 9001);
  const auto expected = sequential(cuts, bytes, 0, fingerprint_kind::xxh3);
  cutpoint_feed_options options = options_for(GetParam().c_str());
  options.fingerprint = "xxh3";
  const engine_handle engine = make_engine(2);
  std::vector<cutpoint_chunk> chunks(expected.size());
  std::size_t count = 0;
  cutpoint_error error = {};
  ASSERT_EQ(cutpoint_chunk_buffer(engine.get(), &options, bytes.data(), bytes.size(), chunks.data(), chunks.size(),
                                  &count, &error),
            CUTPOINT_OK)
      << error.message;
  expect_same(chunks, expected);
}

INSTANTIATE_TEST_SUITE_P(of_the_catalog, c_of_every_name, testing::ValuesIn(catalog_names()), catalog_test_name);

TEST(c_of_a_secret_key, cuts_by_the_key_and_shows_its_fingerprint) {
  std::array<std::uint8_t, secret_key::byte_count> bytes;
  bytes.fill(0x5a);
  const secret_key key(bytes);
  const std::string name = "toeplitz-aes(min_exp=8,max_exp=14,mask_bits=10)";
  const chunker cuts = parse_canonical(name, key).value();
  const auto stream = mixed(300'000, 9003);
  const auto expected = sequential(cuts, stream, 0, fingerprint_kind::sha256);
  const engine_handle engine = make_engine(2);
  std::vector<cutpoint_chunk> chunks(expected.size());
  const auto chunk_by = [&](const std::string& text, const std::uint8_t* cut_key, cutpoint_error& error) {
    cutpoint_feed_options options = options_for(text.c_str());
    options.cut_key = cut_key;
    std::size_t count = 0;
    return cutpoint_chunk_buffer(engine.get(), &options, stream.data(), stream.size(), chunks.data(), chunks.size(),
                                 &count, &error);
  };
  cutpoint_error error = {};
  for (const std::string& text : {name, cuts.canonical()}) {
    ASSERT_EQ(chunk_by(text, bytes.data(), error), CUTPOINT_OK) << error.message;
    expect_same(chunks, expected);
  }
  EXPECT_EQ(chunk_by(cuts.canonical(), nullptr, error), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error.message).find("key is not the fingerprint"), std::string::npos) << error.message;
  EXPECT_EQ(chunk_by("gear", bytes.data(), error), CUTPOINT_INVALID_ARGUMENT);
}

TEST(c_feed, takes_pieces_of_any_size) {
  const auto bytes = mixed(700'000, 9002);
  const auto expected = sequential(chunker_of("gear"), bytes, 5, fingerprint_kind::sha256);
  const engine_handle engine = make_engine(2);
  for (const std::uint64_t most : {1u, 300u, 20'000u, 700'000u}) {
    const feed_handle feed = open_feed(engine.get(), options_for("gear"));
    ASSERT_EQ(cutpoint_feed_begin(feed.get(), 5), CUTPOINT_OK);
    seeded_choices random(most);
    for (std::size_t position = 0; position < bytes.size();) {
      const std::size_t count = std::min<std::size_t>(bytes.size() - position, random.between(1, most));
      ASSERT_EQ(cutpoint_feed_write(feed.get(), &bytes[position], count), CUTPOINT_OK);
      position += count;
    }
    ASSERT_EQ(cutpoint_feed_end(feed.get(), CUTPOINT_OK), CUTPOINT_OK);
    ASSERT_EQ(cutpoint_feed_finish(feed.get()), CUTPOINT_OK);
    std::vector<cutpoint_chunk> room(1000), all;
    std::size_t count = 0;
    ASSERT_EQ(cutpoint_feed_take(feed.get(), room.data(), room.size(), &count), CUTPOINT_OK);
    for (std::size_t i = 0; i < count; ++i) add_each(all, room[i]);
    expect_same(all, expected);
  }
}

TEST(c_feed, takes_zeros_that_nobody_has) {
  std::vector<std::uint8_t> bytes(1 << 20, 0);
  const auto expected = sequential(chunker_of("gear"), bytes, 0, fingerprint_kind::sha256);
  const engine_handle engine = make_engine(1);
  std::vector<cutpoint_chunk> all;
  chunk_calls calls{[&](const cutpoint_chunk& chunk) {
    add_each(all, chunk);
    return 0;
  }};
  const cutpoint_receiver receiver = calls.receiver();
  const feed_handle feed = open_feed(engine.get(), options_for("gear"), &receiver);
  ASSERT_EQ(cutpoint_feed_begin(feed.get(), 0), CUTPOINT_OK);
  ASSERT_EQ(cutpoint_feed_write_zeros(feed.get(), bytes.size()), CUTPOINT_OK);
  ASSERT_EQ(cutpoint_feed_end(feed.get(), CUTPOINT_OK), CUTPOINT_OK);
  ASSERT_EQ(cutpoint_feed_finish(feed.get()), CUTPOINT_OK);
  expect_same(all, expected);
}

TEST(c_feed, goes_on_after_more_zeros_than_64_bits_count) {
  std::uint64_t total = 0;
  chunk_calls calls{[&](const cutpoint_chunk& chunk) {
    total += chunk.length * chunk.count;
    return 0;
  }};
  const cutpoint_receiver receiver = calls.receiver();
  const engine_handle engine = make_engine(1);
  const feed_handle feed = open_feed(engine.get(), options_for("gear"), &receiver);
  ASSERT_EQ(cutpoint_feed_begin(feed.get(), 0), CUTPOINT_OK);
  ASSERT_EQ(cutpoint_feed_write_zeros(feed.get(), 12'345), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_feed_write_zeros(feed.get(), UINT64_MAX - 12'344), CUTPOINT_INVALID_ARGUMENT);
  ASSERT_EQ(cutpoint_feed_end(feed.get(), CUTPOINT_OK), CUTPOINT_OK);
  ASSERT_EQ(cutpoint_feed_finish(feed.get()), CUTPOINT_OK);
  EXPECT_EQ(total, 12'345u);
}

TEST(c_feed, of_each_thread_may_share_an_engine) {
  const engine_handle engine = make_engine(2);
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([&engine, seed] {
      const auto bytes = mixed(1'500'000, seed);
      std::vector<cutpoint_chunk> all;
      chunk_calls calls{[&](const cutpoint_chunk& chunk) {
        add_each(all, chunk);
        return 0;
      }};
      const cutpoint_receiver receiver = calls.receiver();
      const feed_handle feed = open_feed(engine.get(), options_for("fastcdc"), &receiver);
      EXPECT_EQ(feed_one(feed.get(), bytes), CUTPOINT_OK);
      expect_same(all, sequential(chunker_of("fastcdc"), bytes, 0, fingerprint_kind::sha256));
    });
  }
  for (std::thread& each : threads) each.join();
}

TEST(c_feed, keeps_a_key) {
  const auto bytes = mixed(10'000, 9);
  const engine_handle engine = make_engine(1);
  const std::vector<std::uint8_t> key(32, 7);
  cutpoint_feed_options options = options_for("gear");
  options.fingerprint = "blake3";
  cutpoint_chunk plain[100], keyed[100];
  std::size_t count = 0;
  ASSERT_EQ(cutpoint_chunk_buffer(engine.get(), &options, bytes.data(), bytes.size(), plain, 100, &count, nullptr), 0);
  options.key = key.data();
  ASSERT_EQ(cutpoint_chunk_buffer(engine.get(), &options, bytes.data(), bytes.size(), keyed, 100, &count, nullptr), 0);
  fingerprint_key secret;
  std::copy(key.begin(), key.end(), secret.begin());
  const digest expected =
      *(*fingerprinter::make({fingerprint_kind::blake3, secret}))(byte_span(bytes).first(keyed[0].length));
  EXPECT_EQ(std::memcmp(keyed[0].digest, expected.bytes.data(), 32), 0);
  EXPECT_NE(std::memcmp(keyed[0].digest, plain[0].digest, 32), 0);
}

}  // namespace
}  // namespace cutpoint::tests
