// Each allocation fails in turn: calls return a code, throw no exception, and later calls work.
#include <cstring>

#include "tests/bindings/c/failing_allocations.h"
#include "tests/bindings/c/handles.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

class without_memory : public testing::Test {
 protected:
  void SetUp() override {
    std::size_t length = 0;
    ASSERT_EQ(cutpoint_list_names(CUTPOINT_ALGORITHMS, nullptr, 0, &length), CUTPOINT_OK);  // the catalog is made once
    ASSERT_EQ(feed_one(open_feed(engine_.get(), options_).get(), bytes_), CUTPOINT_OK);
  }

  const engine_handle engine_ = make_engine(1);
  const cutpoint_feed_options options_ = [] {
    cutpoint_feed_options options = options_for("gear");
    options.fingerprint = "xxh3";
    return options;
  }();
  const std::vector<std::uint8_t> bytes_ = [] {
    seeded_choices random(3);
    return make_stream(content::mixed, 300'000, random);
  }();
};

TEST_F(without_memory, names_and_engines_are_refused) {
  char text[300];
  EXPECT_GT(
      failures_of([&] { return cutpoint_describe_cuts("gear(avg_bytes=4K)", text, sizeof text, nullptr, nullptr); }),
      0);
  EXPECT_STREQ(std::string(text, 5).c_str(), "gear(");
  EXPECT_GT(failures_of([&] {
              auto one = sized<cutpoint_engine_options>();
              one.threads = 1;
              cutpoint_engine* engine = nullptr;
              const cutpoint_status code = cutpoint_engine_create(&one, &engine, nullptr);
              EXPECT_EQ(engine == nullptr, code != CUTPOINT_OK);
              cutpoint_engine_destroy(engine);
              return code;
            }),
            0);
}

TEST_F(without_memory, a_feed_fails_and_goes) {
  const int failures = failures_of([&] {
    cutpoint_feed* feed = nullptr;
    const cutpoint_status created = cutpoint_feed_create(engine_.get(), &options_, nullptr, &feed, nullptr);
    if (created != CUTPOINT_OK) return created;
    const cutpoint_status fed = feed_one(feed, bytes_);
    EXPECT_NE(cutpoint_feed_begin(feed, 1), CUTPOINT_OK);  // finished, or failed
    const cutpoint_status destroyed = cutpoint_feed_destroy(feed);
    EXPECT_EQ(destroyed, CUTPOINT_OK);
    return fed;
  });
  EXPECT_GT(failures, 10);
}

TEST_F(without_memory, a_buffer_is_refused_and_cut_later) {
  std::vector<cutpoint_chunk> expected(500), chunks(500);
  std::size_t count = 0;
  ASSERT_EQ(cutpoint_chunk_buffer(engine_.get(), &options_, bytes_.data(), bytes_.size(), expected.data(), 500, &count,
                                  nullptr),
            0);
  const int failures = failures_of([&] {
    return cutpoint_chunk_buffer(engine_.get(), &options_, bytes_.data(), bytes_.size(), chunks.data(), 500, &count,
                                 nullptr);
  });
  EXPECT_GT(failures, 10);
  EXPECT_EQ(std::memcmp(chunks.data(), expected.data(), count * sizeof expected[0]), 0);
}

}  // namespace
}  // namespace cutpoint::tests
