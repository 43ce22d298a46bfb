// Owning handles of the interface for C, and receivers that call C++ functions.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <cutpoint/cutpoint.h>
#include <gtest/gtest.h>

namespace cutpoint::tests {

struct destroyer {
  void operator()(cutpoint_engine* engine) const { cutpoint_engine_destroy(engine); }
  void operator()(cutpoint_feed* feed) const { EXPECT_EQ(cutpoint_feed_destroy(feed), CUTPOINT_OK); }
};
using engine_handle = std::unique_ptr<cutpoint_engine, destroyer>;
using feed_handle = std::unique_ptr<cutpoint_feed, destroyer>;

inline engine_handle make_engine(std::uint64_t threads) {
  const cutpoint_engine_options options = {
      .struct_bytes = sizeof options, .threads = threads, .thread_limit = 0, .memory_bytes = 0};
  cutpoint_engine* engine = nullptr;
  EXPECT_EQ(cutpoint_engine_create(&options, &engine, nullptr), CUTPOINT_OK);
  return engine_handle(engine);
}

/// Returns default options for these cuts, on the scalar reference, which needs no measurement.
inline cutpoint_feed_options options_for(const char* cuts) {
  cutpoint_feed_options options = {};
  options.struct_bytes = sizeof options;
  options.cuts = cuts;
  options.back_end = "scalar";
  return options;
}

inline feed_handle open_feed(cutpoint_engine* engine, const cutpoint_feed_options& options,
                             const cutpoint_receiver* receiver = nullptr) {
  cutpoint_feed* feed = nullptr;
  cutpoint_error error = {};
  EXPECT_EQ(cutpoint_feed_create(engine, &options, receiver, &feed, &error), CUTPOINT_OK) << error.message;
  return feed_handle(feed);
}

inline cutpoint_error last_error(cutpoint_feed* feed) {
  cutpoint_error error = {};
  EXPECT_EQ(cutpoint_feed_error(feed, &error), CUTPOINT_OK);
  return error;
}

/// Calls `on_chunk` for each chunk.
struct chunk_calls {
  std::function<int(const cutpoint_chunk&)> on_chunk;

  [[nodiscard]] cutpoint_receiver receiver() {
    cutpoint_receiver receiver = {};
    receiver.struct_bytes = sizeof receiver;
    receiver.context = this;
    receiver.take_chunk = [](void* context, const cutpoint_chunk* chunk, const void*) {
      return static_cast<chunk_calls*>(context)->on_chunk(*chunk);
    };
    return receiver;
  }
};

/// Feeds one stream in one write. Returns the first failure.
inline cutpoint_status feed_one(cutpoint_feed* feed, const std::vector<std::uint8_t>& bytes) {
  if (const int begun = cutpoint_feed_begin(feed, 0); begun != CUTPOINT_OK) return begun;
  if (const int written = cutpoint_feed_write(feed, bytes.data(), bytes.size()); written != CUTPOINT_OK) return written;
  if (const int ended = cutpoint_feed_end(feed, CUTPOINT_OK); ended != CUTPOINT_OK) return ended;
  return cutpoint_feed_finish(feed);
}

}  // namespace cutpoint::tests
