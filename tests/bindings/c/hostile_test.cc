// Wrong arguments: nulls, sizes, names, numbers. Each is refused with a code, and with a sentence if the caller gave an error.
#include <cstring>
#include <limits>

#include "tests/bindings/c/handles.h"

namespace cutpoint::tests {
namespace {

using testing::Each;
using testing::HasSubstr;
using codes = std::vector<cutpoint_status>;

class hostile : public testing::Test {
 protected:
  /// Returns the code with which a feed's options are refused.
  cutpoint_status refusal(const cutpoint_feed_options& options) {
    cutpoint_feed* feed = nullptr;
    const cutpoint_status code = cutpoint_feed_create(engine_.get(), &options, nullptr, &feed, &error_);
    EXPECT_EQ(feed, nullptr);
    EXPECT_EQ(error_.code, code);
    EXPECT_EQ(cutpoint_feed_destroy(feed), CUTPOINT_OK);
    return code;
  }

  engine_handle engine_ = make_engine(1);
  feed_handle feed_ = open_feed(engine_.get(), options_for("gear"));
  cutpoint_error error_ = {};
  std::size_t count_ = 0;
};

TEST_F(hostile, nulls_are_refused) {
  cutpoint_engine* const engine = engine_.get();
  cutpoint_feed* const feed = feed_.get();
  cutpoint_chunk chunk;
  cutpoint_statistics statistics = {};
  cutpoint_feed* created = nullptr;
  char text[4] = "old";
  EXPECT_EQ(cutpoint_engine_threads(nullptr), 0u);
  cutpoint_engine_destroy(nullptr);
  EXPECT_EQ(cutpoint_feed_destroy(nullptr), CUTPOINT_OK);
  const codes refused = {
      cutpoint_chunk_buffer(nullptr, nullptr, "", 1, &chunk, 1, &count_, nullptr),
      cutpoint_feed_create(nullptr, nullptr, nullptr, &created, nullptr),
      cutpoint_feed_begin(nullptr, 0),
      cutpoint_feed_write(nullptr, "", 1),
      cutpoint_feed_write_zeros(nullptr, 1),
      cutpoint_feed_end(nullptr, 0),
      cutpoint_feed_finish(nullptr),
      cutpoint_feed_take(nullptr, &chunk, 1, &count_),
      cutpoint_feed_cancel(nullptr),
      cutpoint_feed_statistics(nullptr, &statistics),
      cutpoint_feed_error(nullptr, &error_),
      // results
      cutpoint_engine_create(nullptr, nullptr, nullptr),
      cutpoint_feed_create(engine, nullptr, nullptr, nullptr, nullptr),
      cutpoint_chunk_buffer(engine, nullptr, "", 1, &chunk, 1, nullptr, nullptr),
      cutpoint_feed_take(feed, &chunk, 1, nullptr),
      cutpoint_feed_statistics(feed, nullptr),
      cutpoint_feed_error(feed, nullptr),
      // bytes, chunks and text
      cutpoint_chunk_buffer(engine, nullptr, nullptr, 1, &chunk, 1, &count_, nullptr),
      cutpoint_chunk_buffer(engine, nullptr, "", 1, nullptr, 1, &count_, nullptr),
      cutpoint_feed_take(feed, nullptr, 1, &count_),
      cutpoint_describe_cuts(nullptr, text, 4, nullptr, nullptr),
      cutpoint_describe_cuts("gear", nullptr, 4, nullptr, nullptr),
  };
  EXPECT_THAT(refused, Each(CUTPOINT_INVALID_ARGUMENT));
  EXPECT_EQ(cutpoint_engine_create(nullptr, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("engine"));
  EXPECT_EQ(cutpoint_feed_begin(feed, 0), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_feed_write(feed, nullptr, 1), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_feed_write(feed, nullptr, 0), CUTPOINT_OK);
}

TEST_F(hostile, texts_are_checked) {
  char text[4] = "old";
  EXPECT_EQ(cutpoint_list_names(-1, text, 4, nullptr), CUTPOINT_INVALID_ARGUMENT);
  for (const char* cuts : {"", "(", "gear(avg_bytes=)", "gear(avg_bytes=0)", "\xff"}) {
    EXPECT_NE(cutpoint_describe_cuts(cuts, text, 4, nullptr, &error_), CUTPOINT_OK) << cuts;
    EXPECT_STRNE(error_.message, "") << cuts;
  }
  EXPECT_STREQ(text, "old");
  EXPECT_EQ(cutpoint_describe_cuts("gear", text, 4, nullptr, &error_), CUTPOINT_BUFFER_TOO_SMALL);
  EXPECT_STREQ(text, "gea");
  const std::string long_name(5000, 'x');
  EXPECT_EQ(cutpoint_describe_cuts(long_name.c_str(), nullptr, 0, nullptr, &error_), CUTPOINT_UNKNOWN_NAME);
  EXPECT_EQ(std::strlen(error_.message), sizeof error_.message - 1) << "the sentence is cut off";
}

TEST_F(hostile, sizes_of_structures_are_checked) {
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{4097}, ~std::uint64_t{0}}) {
    cutpoint_feed_options options = options_for("gear");
    options.struct_bytes = size;
    EXPECT_EQ(refusal(options), CUTPOINT_INVALID_ARGUMENT);
    EXPECT_THAT(error_.message, HasSubstr("struct_bytes = " + std::to_string(size)));
    cutpoint_receiver receiver = {};
    receiver.struct_bytes = size;
    cutpoint_feed* feed = nullptr;
    EXPECT_EQ(cutpoint_feed_create(engine_.get(), nullptr, &receiver, &feed, &error_), CUTPOINT_INVALID_ARGUMENT);
  }
  cutpoint_feed_options options = options_for("gear");
  options.struct_bytes = 87;
  EXPECT_EQ(refusal(options), CUTPOINT_INVALID_ARGUMENT);
  auto threads = sized<cutpoint_engine_options>();
  threads.struct_bytes = 15;
  cutpoint_engine* engine = nullptr;
  EXPECT_EQ(cutpoint_engine_create(&threads, &engine, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(engine, nullptr);
}

TEST_F(hostile, an_engine_without_memory_refuses_feeds_and_an_old_structure_sets_no_limit) {
  auto options = sized<cutpoint_engine_options>();
  options.threads = options.thread_limit = 1;
  options.memory_bytes = 1000;
  const cutpoint_feed_options feed = options_for("gear");
  const auto outcome = [&] {
    cutpoint_engine* engine = nullptr;
    EXPECT_EQ(cutpoint_engine_create(&options, &engine, &error_), CUTPOINT_OK);
    const engine_handle owner(engine);
    cutpoint_feed* new_feed = nullptr;
    const cutpoint_status code = cutpoint_feed_create(engine, &feed, nullptr, &new_feed, &error_);
    const feed_handle feed_owner(new_feed);
    return code;
  };
  EXPECT_EQ(outcome(), CUTPOINT_MEMORY_LIMIT);
  EXPECT_THAT(error_.message, HasSubstr("of the engine would do"));
  options.struct_bytes = 16;  // as it was before it had limits
  EXPECT_EQ(outcome(), CUTPOINT_OK);
}

TEST_F(hostile, newer_structures_are_taken_while_what_is_new_is_zero) {
  struct {
    cutpoint_feed_options known = options_for("gear");
    std::uint64_t unknown = 0;
  } newer;
  newer.known.struct_bytes = sizeof newer;
  EXPECT_NE(open_feed(engine_.get(), newer.known), nullptr);
  newer.unknown = std::uint64_t{1} << 56;
  EXPECT_EQ(refusal(newer.known), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("this release"));
}

TEST_F(hostile, statistics_are_written_as_far_as_they_reach) {
  struct {
    cutpoint_statistics known;
    std::uint64_t after[2];
  } statistics;
  std::memset(&statistics, 255, sizeof statistics);
  statistics.known.struct_bytes = 16;
  EXPECT_EQ(cutpoint_feed_statistics(feed_.get(), &statistics.known), CUTPOINT_OK);
  EXPECT_EQ(statistics.known.struct_bytes, 16u);
  EXPECT_EQ(statistics.known.fed_bytes, 0u);
  EXPECT_EQ(statistics.known.chunk_count, ~std::uint64_t{0});
  statistics.known.struct_bytes = sizeof statistics - 8;
  EXPECT_EQ(cutpoint_feed_statistics(feed_.get(), &statistics.known), CUTPOINT_OK);
  EXPECT_STREQ(statistics.known.chunked_on, "scalar");
  EXPECT_EQ(statistics.after[0], 0u);
  EXPECT_EQ(statistics.after[1], ~std::uint64_t{0});
  statistics.known.struct_bytes = 0;
  EXPECT_EQ(cutpoint_feed_statistics(feed_.get(), &statistics.known), CUTPOINT_INVALID_ARGUMENT);
}

TEST_F(hostile, options_are_checked) {
  const std::uint8_t key[32] = {};
  const std::int32_t device = 0;
  const auto refused = [&](auto change) {
    cutpoint_feed_options options = options_for("gear");
    change(options);
    return refusal(options);
  };
  EXPECT_EQ(refused([](auto& o) { o.cuts = "no such"; }), CUTPOINT_UNKNOWN_NAME);
  EXPECT_EQ(refused([](auto& o) { o.fingerprint = "sha"; }), CUTPOINT_UNKNOWN_NAME);
  EXPECT_EQ(refused([](auto& o) { o.back_end = "gpu"; }), CUTPOINT_UNKNOWN_NAME);
  EXPECT_EQ(refused([&](auto& o) { o.key = key; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([&](auto& o) { o.devices = &device; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& o) { o.device_count = 1; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([&](auto& o) { o.devices = &device, o.device_count = ~std::uint64_t{0}; }),
            CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& o) { o.memory_bytes = 1; }), CUTPOINT_MEMORY_LIMIT);
  auto threads = sized<cutpoint_engine_options>();
  threads.threads = ~std::uint64_t{0};
  cutpoint_engine* engine = nullptr;
  EXPECT_EQ(cutpoint_engine_create(&threads, &engine, &error_), CUTPOINT_INVALID_ARGUMENT);
  threads.threads = 1;
  threads.placement = CUTPOINT_PLACED_ON_CORES + 1;
  EXPECT_EQ(cutpoint_engine_create(&threads, &engine, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, testing::HasSubstr("placement = 3 must be at most 2"));
}

TEST_F(hostile, joins_and_rates_are_checked) {
  const auto refused = [&](auto change) {
    cutpoint_feed_options options = options_for("gear");
    auto rates = sized<cutpoint_rates>();
    options.rates = &rates;
    change(options, rates);
    const cutpoint_status code = refusal(options);
    return code == CUTPOINT_INVALID_ARGUMENT ? std::string(error_.message) : "another error";
  };
  EXPECT_EQ(refused([](auto& o, auto&) { o.join = CUTPOINT_JOIN_NONE + 1; }), "join = 3 must be at most 2");
  EXPECT_EQ(refused([](auto&, auto& rates) { rates.struct_bytes = 8; }),
            "rates's struct_bytes = 8 is not the size of a cutpoint_rates");
  EXPECT_EQ(refused([](auto&, auto& rates) { rates.device_count = 17; }),
            "rates have device_count = 17, which must be at most 16");
  EXPECT_THAT(refused([](auto&, auto& rates) { rates.reading = -1; }), testing::HasSubstr("negative"));
  EXPECT_THAT(refused([](auto&, auto& rates) {
                rates.device_count = 1;
                rates.devices[0].link_in = std::numeric_limits<double>::quiet_NaN();
              }),
              testing::HasSubstr("none"));
  EXPECT_THAT(refused([](auto&, auto& rates) {
                rates.device_count = 1;
                rates.devices[0].device = std::uint64_t{1} << 40;
              }),
              testing::HasSubstr("GPU 1099511627776"));
  EXPECT_EQ(cutpoint_engine_measure(nullptr, nullptr, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace cutpoint::tests
