// Feeds and buffers through the interface for C: records, keys, threads, callbacks, and calls at the wrong time.
#include <cstring>
#include <future>
#include <stdexcept>
#include <thread>

#include <cutpoint/fingerprint.h>

#include "tests/bindings/c/handles.h"
#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;

std::vector<std::uint8_t> stream_of(content what, std::size_t size, std::uint64_t seed) {
  seeded_choices random(seed);
  return make_stream(what, size, random);
}

const std::vector<std::uint8_t>& random_bytes() {
  static const std::vector<std::uint8_t> bytes = stream_of(content::random, 3'000'000, 1);
  return bytes;
}

/// Returns the chunks that are expected for one stream.
std::vector<cutpoint_chunk> sequential(const chunker& cuts, const std::vector<std::uint8_t>& bytes,
                                       std::uint64_t stream, const fingerprint_recipe& recipe) {
  std::vector<cutpoint_chunk> all;
  fingerprinter make = *fingerprinter::make(recipe);
  for (const chunk& each : cuts.find_cuts(bytes)) {
    const digest fingerprint = *make(byte_span(bytes).subspan(each.offset, each.length));
    all.push_back({.stream = stream,
                   .offset = each.offset,
                   .length = each.length,
                   .count = 1,
                   .digest_bytes = fingerprint.size,
                   .digest = {}});
    std::copy(fingerprint.bytes.begin(), fingerprint.bytes.end(), all.back().digest);
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

class c_buffer : public testing::Test {
 protected:
  cutpoint_status chunk(const cutpoint_feed_options& options) {
    chunks_.resize(1000);
    std::size_t count = 0;
    const cutpoint_status code = cutpoint_chunk_buffer(engine_.get(), &options, bytes_.data(), bytes_.size(),
                                                       chunks_.data(), chunks_.size(), &count, &error_);
    chunks_.resize(count);
    return code;
  }

  const engine_handle engine_ = make_engine(2);
  const std::vector<std::uint8_t> bytes_ = stream_of(content::mixed, 700'000, 9003);
  std::vector<cutpoint_chunk> chunks_;
  cutpoint_error error_ = {};
};

TEST_F(c_buffer, gives_the_chunks_of_a_fingerprint_with_and_without_a_key) {
  const std::vector<std::uint8_t> key(32, 7);
  fingerprint_key secret;
  std::copy(key.begin(), key.end(), secret.begin());
  cutpoint_feed_options options = options_for("gear");
  options.fingerprint = "xxh3";
  ASSERT_EQ(chunk(options), CUTPOINT_OK) << error_.message;
  expect_same(chunks_, sequential(chunker_of("gear"), bytes_, 0, fingerprint_kind::xxh3));
  options.fingerprint = "blake3";
  options.key = key.data();
  ASSERT_EQ(chunk(options), CUTPOINT_OK) << error_.message;
  expect_same(chunks_, sequential(chunker_of("gear"), bytes_, 0, {fingerprint_kind::blake3, secret}));
}

TEST_F(c_buffer, is_cut_by_a_secret_key) {
  std::array<std::uint8_t, secret_key::byte_count> key;
  key.fill(0x5a);
  const std::string name = "toeplitz-aes(min_exp=8,max_exp=14,mask_bits=10)";
  const chunker cuts = parse_canonical(name, secret_key(key)).value();
  const auto chunk_by = [&](const std::string& text, const std::uint8_t* cut_key) {
    cutpoint_feed_options options = options_for(text.c_str());
    options.cut_key = cut_key;
    return chunk(options);
  };
  for (const std::string& text : {name, cuts.canonical()}) {
    ASSERT_EQ(chunk_by(text, key.data()), CUTPOINT_OK) << error_.message;
    expect_same(chunks_, sequential(cuts, bytes_, 0, fingerprint_kind::sha256));
  }
  EXPECT_EQ(chunk_by(cuts.canonical(), nullptr), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("key is not the fingerprint"));
  EXPECT_EQ(chunk_by("gear", key.data()), CUTPOINT_INVALID_ARGUMENT);
}

TEST_F(c_buffer, is_cut_at_each_segment_without_a_join) {
  cutpoint_feed_options options = options_for("fixed(avg_bytes=1000)");
  options.segment_bytes = 2500;
  options.join = CUTPOINT_JOIN_NONE;
  ASSERT_EQ(chunk(options), CUTPOINT_OK) << error_.message;
  ASSERT_EQ(chunks_.size(), 840u);
  EXPECT_EQ(chunks_[2].length, 500u);
  EXPECT_EQ(chunks_[3].offset, 2500u);
}

TEST_F(c_buffer, is_cut_by_the_processor_where_rates_of_a_machine_with_a_GPU_are_given) {
  cutpoint_feed_options options = options_for("gear");
  options.back_end = "auto";
  auto rates = sized<cutpoint_rates>();
  rates.chunking = rates.fingerprinting = 1e9;
  rates.device_count = 1;
  rates.devices[0].link_in = rates.devices[0].link_out = 5e10;
  rates.devices[0].chunking = rates.devices[0].fingerprinting = 5e11;
  options.rates = &rates;
  ASSERT_EQ(chunk(options), CUTPOINT_OK) << error_.message;
  expect_same(chunks_, sequential(chunker_of("gear"), bytes_, 0, fingerprint_kind::sha256));
}

TEST_F(c_buffer, is_measured_where_there_is_a_GPU_and_costs_no_time_elsewhere) {
  cutpoint_feed_options options = options_for("gear");
  options.back_end = "auto";
  auto rates = sized<cutpoint_rates>();
  rates.chunking = -1;
  ASSERT_EQ(cutpoint_engine_measure(engine_.get(), &options, &rates, &error_), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(rates.struct_bytes, sizeof rates);
  EXPECT_EQ(rates.chunking > 0, rates.device_count > 0);
  options.rates = &rates;
  ASSERT_EQ(chunk(options), CUTPOINT_OK) << error_.message;
  expect_same(chunks_, sequential(chunker_of("gear"), bytes_, 0, fingerprint_kind::sha256));
}

TEST(c_feed, gives_the_chunks_of_blocks_and_of_zeros_that_nobody_has) {
  std::vector<std::uint8_t> bytes = stream_of(content::mixed, 700'000, 9002);
  const std::size_t written = bytes.size();
  bytes.resize(written + (1 << 20));
  const auto expected = sequential(chunker_of("gear"), bytes, 5, fingerprint_kind::sha256);
  const engine_handle engine = make_engine(2);
  const feed_handle feed = open_feed(engine.get(), options_for("gear"));
  ASSERT_EQ(cutpoint_feed_begin(feed.get(), 5), CUTPOINT_OK);
  for (std::size_t position = 0; position < written; position += 70'000) {
    ASSERT_EQ(cutpoint_feed_write(feed.get(), &bytes[position], 70'000), CUTPOINT_OK);
  }
  ASSERT_EQ(cutpoint_feed_write_zeros(feed.get(), bytes.size() - written), CUTPOINT_OK);
  ASSERT_EQ(cutpoint_feed_end(feed.get(), CUTPOINT_OK), CUTPOINT_OK);
  ASSERT_EQ(cutpoint_feed_finish(feed.get()), CUTPOINT_OK);
  std::vector<cutpoint_chunk> room(1000), all;
  std::size_t count = 0;
  ASSERT_EQ(cutpoint_feed_take(feed.get(), room.data(), room.size(), &count), CUTPOINT_OK);
  for (std::size_t i = 0; i < count; ++i) add_each(all, room[i]);
  expect_same(all, expected);
}

TEST(c_feed, of_each_thread_may_share_an_engine) {
  const engine_handle engine = make_engine(2);
  std::vector<std::jthread> threads;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([&engine, seed] {
      const auto bytes = stream_of(content::mixed, 1'500'000, seed);
      std::vector<cutpoint_chunk> all;
      auto add = [&](const cutpoint_chunk& chunk) {
        add_each(all, chunk);
        return 0;
      };
      const cutpoint_receiver receiver = receiver_of(add);
      const feed_handle feed = open_feed(engine.get(), options_for("fastcdc"), &receiver);
      EXPECT_EQ(feed_one(feed.get(), bytes), CUTPOINT_OK);
      expect_same(all, sequential(chunker_of("fastcdc"), bytes, 0, fingerprint_kind::sha256));
    });
  }
}

TEST(c_feed, refuses_calls_out_of_order) {
  const engine_handle engine = make_engine(1);
  const feed_handle feed = open_feed(engine.get(), options_for("gear"));
  EXPECT_EQ(cutpoint_feed_write(feed.get(), "a", 1), CUTPOINT_WRONG_STATE);
  EXPECT_STREQ(last_error(feed.get()).message, "no stream has begun");
  EXPECT_EQ(cutpoint_feed_write_zeros(feed.get(), 1), CUTPOINT_WRONG_STATE);
  EXPECT_EQ(cutpoint_feed_end(feed.get(), 0), CUTPOINT_WRONG_STATE);
  EXPECT_EQ(cutpoint_feed_begin(feed.get(), 1), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_feed_begin(feed.get(), 2), CUTPOINT_WRONG_STATE);
  EXPECT_EQ(cutpoint_feed_finish(feed.get()), CUTPOINT_WRONG_STATE);
  EXPECT_EQ(cutpoint_feed_end(feed.get(), -1), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_feed_end(feed.get(), CUTPOINT_BUSY), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_feed_write(feed.get(), "a", 1), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_feed_end(feed.get(), 0), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_feed_finish(feed.get()), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_feed_finish(feed.get()), CUTPOINT_WRONG_STATE);
  EXPECT_EQ(cutpoint_feed_begin(feed.get(), 1), CUTPOINT_WRONG_STATE);
  EXPECT_EQ(cutpoint_feed_write(feed.get(), "a", 1), CUTPOINT_WRONG_STATE);
  EXPECT_STREQ(last_error(feed.get()).message, "the feed has been finished");
  cutpoint_chunk chunk = {};
  std::size_t count = 0;
  EXPECT_EQ(cutpoint_feed_take(feed.get(), &chunk, 1, &count), CUTPOINT_OK);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(chunk.stream, 1u);
}

TEST(c_feed, ends_by_a_callback_that_fails_or_throws) {
  const auto outcome = [](std::uint64_t threads, const cutpoint_receiver& receiver) -> std::string {
    const engine_handle engine = make_engine(threads);
    const feed_handle feed = open_feed(engine.get(), options_for("gear"), &receiver);
    EXPECT_EQ(feed_one(feed.get(), random_bytes()), CUTPOINT_CALLBACK_FAILED);
    EXPECT_EQ(cutpoint_feed_begin(feed.get(), 9), CUTPOINT_CALLBACK_FAILED);
    EXPECT_EQ(cutpoint_feed_finish(feed.get()), CUTPOINT_CALLBACK_FAILED);
    return last_error(feed.get()).message;
  };
  for (const std::uint64_t threads : {1u, 3u}) {
    int calls = 0;
    auto fail = [&](const cutpoint_chunk&) { return ++calls == 3 ? -5 : 0; };
    auto raise = [](const cutpoint_chunk&) -> int { throw std::runtime_error("of the caller"); };
    EXPECT_EQ(outcome(threads, receiver_of(fail)), "the callback take_chunk returned -5");
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(outcome(threads, receiver_of(raise)), "the callback take_chunk has thrown");
  }
  auto beginning = sized<cutpoint_receiver>(), ending = beginning;
  beginning.begin_stream = [](void*, std::uint64_t) { return 1; };
  EXPECT_EQ(outcome(1, beginning), "the callback begin_stream returned 1");
  ending.end_stream = [](void*, std::uint64_t, cutpoint_status) { return 2; };
  EXPECT_EQ(outcome(1, ending), "the callback end_stream returned 2");
}

TEST(c_feed, may_not_be_called_by_its_callbacks) {
  for (const std::uint64_t threads : {1u, 3u}) {
    const engine_handle engine = make_engine(threads);
    cutpoint_feed* feed = nullptr;
    std::uint64_t calls = 0;
    auto call = [&](const cutpoint_chunk&) {
      ++calls;
      auto statistics = sized<cutpoint_statistics>();
      EXPECT_EQ(cutpoint_feed_write(feed, "a", 1), CUTPOINT_WRONG_STATE);
      EXPECT_EQ(cutpoint_feed_finish(feed), CUTPOINT_WRONG_STATE);
      EXPECT_EQ(cutpoint_feed_statistics(feed, &statistics), CUTPOINT_WRONG_STATE);
      EXPECT_EQ(cutpoint_feed_destroy(feed), CUTPOINT_WRONG_STATE);
      EXPECT_EQ(last_error(feed).code, CUTPOINT_OK);
      return 0;
    };
    const cutpoint_receiver receiver = receiver_of(call);
    const feed_handle handle = open_feed(engine.get(), options_for("gear"), &receiver);
    feed = handle.get();
    EXPECT_EQ(feed_one(feed, random_bytes()), CUTPOINT_OK);
    EXPECT_GT(calls, 100u);
  }
}

TEST(c_feed, tells_a_second_thread_to_wait) {
  const engine_handle engine = make_engine(1);  // so that callbacks are made within `finish` and `write`
  std::promise<void> is_in, may_go;
  bool is_first = true;
  auto wait = [&](const cutpoint_chunk&) {
    if (std::exchange(is_first, false)) {
      is_in.set_value();
      may_go.get_future().wait();
    }
    return 0;
  };
  const cutpoint_receiver receiver = receiver_of(wait);
  const feed_handle feed = open_feed(engine.get(), options_for("gear"), &receiver);
  std::thread feeding([&] { EXPECT_EQ(feed_one(feed.get(), random_bytes()), CUTPOINT_OK); });
  is_in.get_future().wait();
  auto statistics = sized<cutpoint_statistics>();
  EXPECT_EQ(cutpoint_feed_write(feed.get(), "a", 1), CUTPOINT_BUSY);
  EXPECT_EQ(cutpoint_feed_begin(feed.get(), 1), CUTPOINT_BUSY);
  EXPECT_EQ(cutpoint_feed_statistics(feed.get(), &statistics), CUTPOINT_BUSY);
  EXPECT_EQ(cutpoint_feed_destroy(feed.get()), CUTPOINT_BUSY);
  EXPECT_EQ(last_error(feed.get()).code, CUTPOINT_OK);
  may_go.set_value();
  feeding.join();
  EXPECT_EQ(cutpoint_feed_statistics(feed.get(), &statistics), CUTPOINT_OK);
  EXPECT_EQ(statistics.fed_bytes, random_bytes().size());
}

TEST(c_feed, stops_when_it_is_cancelled) {
  const engine_handle engine = make_engine(2);
  const feed_handle idle = open_feed(engine.get(), options_for("gear"));
  EXPECT_EQ(cutpoint_feed_cancel(idle.get()), CUTPOINT_OK);
  EXPECT_EQ(feed_one(idle.get(), random_bytes()), CUTPOINT_CANCELLED);
  EXPECT_EQ(cutpoint_feed_begin(idle.get(), 1), CUTPOINT_CANCELLED);

  cutpoint_feed* feed = nullptr;
  auto cancel = [&](const cutpoint_chunk&) { return static_cast<int>(cutpoint_feed_cancel(feed)); };
  const cutpoint_receiver receiver = receiver_of(cancel);
  const feed_handle handle = open_feed(engine.get(), options_for("gear"), &receiver);
  feed = handle.get();
  std::vector<std::uint8_t> bytes = random_bytes();
  for (int i = 0; i < 3; ++i) bytes.insert(bytes.end(), bytes.begin(), bytes.end());
  EXPECT_EQ(feed_one(feed, bytes), CUTPOINT_CANCELLED);
  EXPECT_EQ(last_error(feed).code, CUTPOINT_CANCELLED);
}

TEST(c_feed, may_outlive_its_engine_and_go_at_any_time) {
  engine_handle engine = make_engine(2);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, random_bytes().size()}) {
    const feed_handle feed = open_feed(engine.get(), options_for("gear"));
    EXPECT_EQ(cutpoint_feed_begin(feed.get(), 0), CUTPOINT_OK);
    EXPECT_EQ(cutpoint_feed_write(feed.get(), random_bytes().data(), size), CUTPOINT_OK);
  }
  const feed_handle feed = open_feed(engine.get(), options_for("gear"));
  engine.reset();
  EXPECT_EQ(feed_one(feed.get(), random_bytes()), CUTPOINT_OK);
}

TEST(c_feed, takes_no_bytes_while_too_many_chunks_wait) {
  const engine_handle engine = make_engine(1);
  cutpoint_feed_options options = options_for("gear");
  options.waiting_chunks = 10;
  const feed_handle feed = open_feed(engine.get(), options);
  EXPECT_EQ(cutpoint_feed_begin(feed.get(), 0), CUTPOINT_OK);
  std::vector<cutpoint_chunk> room(1000);
  std::uint64_t refused = 0, end = 0;
  const auto take = [&] {
    std::size_t count = 0;
    EXPECT_EQ(cutpoint_feed_take(feed.get(), room.data(), room.size(), &count), CUTPOINT_OK);
    for (std::size_t i = 0; i < count; ++i) end += room[i].length * room[i].count;
  };
  const std::size_t block_bytes = 100'000;
  for (std::size_t position = 0; position < random_bytes().size();) {
    const cutpoint_status written = cutpoint_feed_write(feed.get(), &random_bytes()[position], block_bytes);
    if (written == CUTPOINT_OK) position += block_bytes;
    if (written == CUTPOINT_CHUNKS_WAITING) ++refused, take();
    ASSERT_TRUE(written == CUTPOINT_OK || written == CUTPOINT_CHUNKS_WAITING);
  }
  EXPECT_EQ(cutpoint_feed_end(feed.get(), 0), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_feed_finish(feed.get()), CUTPOINT_OK);
  take();
  EXPECT_EQ(end, random_bytes().size());
  EXPECT_GT(refused, 0u);
}

TEST(c_feed, keeps_no_chunks_for_a_receiver) {
  const engine_handle engine = make_engine(1);
  const auto nowhere = sized<cutpoint_receiver>();
  const feed_handle feed = open_feed(engine.get(), options_for("gear"), &nowhere);
  EXPECT_EQ(feed_one(feed.get(), random_bytes()), CUTPOINT_OK);
  cutpoint_chunk chunk;
  std::size_t count = 1;
  EXPECT_EQ(cutpoint_feed_take(feed.get(), &chunk, 1, &count), CUTPOINT_WRONG_STATE);
  EXPECT_EQ(count, 0u);
}

TEST(c_feed, goes_on_after_a_stream_whose_chunk_outgrows_the_memory) {
  const engine_handle engine = make_engine(1);
  cutpoint_feed_options options = options_for("gear(max_bytes=0)");
  options.memory_bytes = 1 << 20;
  std::vector<cutpoint_status> outcomes;
  auto receiver = sized<cutpoint_receiver>();
  receiver.context = &outcomes;
  receiver.end_stream = [](void* context, std::uint64_t, cutpoint_status outcome) {
    static_cast<std::vector<cutpoint_status>*>(context)->push_back(outcome);
    return 0;
  };
  const feed_handle feed = open_feed(engine.get(), options, &receiver);
  const std::vector<std::uint8_t> endless(3 << 20, 1);  // in a run gear finds no cut
  EXPECT_EQ(cutpoint_feed_begin(feed.get(), 0), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_feed_write(feed.get(), endless.data(), endless.size()), CUTPOINT_MEMORY_LIMIT);
  EXPECT_EQ(cutpoint_feed_write(feed.get(), endless.data(), 1), CUTPOINT_WRONG_STATE);
  EXPECT_EQ(cutpoint_feed_begin(feed.get(), 1), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_feed_write(feed.get(), "abc", 3), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_feed_end(feed.get(), CUTPOINT_IO_ERROR), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_feed_finish(feed.get()), CUTPOINT_OK);
  EXPECT_EQ(outcomes, (std::vector<cutpoint_status>{CUTPOINT_MEMORY_LIMIT, CUTPOINT_IO_ERROR}));
}

}  // namespace
}  // namespace cutpoint::tests
