// The functions of the interface for C that feed streams.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include <cutpoint/chunks.h>
#include <cutpoint/engine.h>

#include "bindings/c/callbacks.h"
#include "bindings/c/options.h"
#include "bindings/c/structures.h"

namespace cutpoint::embed {

/// A receiver as `cutpoint_feed` uses it.
class c_receiver : public chunk_receiver {
 public:
  /// Returns whether the feed must refuse bytes until chunks are taken.
  [[nodiscard]] virtual bool is_full() { return false; }
  /// Moves waiting chunks into `room` and returns their number. Returns nullopt if chunks are passed to callbacks.
  [[nodiscard]] virtual std::optional<std::size_t> move_to(std::span<cutpoint_chunk>) { return std::nullopt; }

  /// Admits calls on the feed.
  [[nodiscard]] callbacks& calls() noexcept { return calls_; }
  [[nodiscard]] std::uint64_t chunk_count() const noexcept { return chunk_count_.load(std::memory_order_relaxed); }

 protected:
  void count(const delivered_chunk& chunks) noexcept {
    chunk_count_.fetch_add(chunks.count, std::memory_order_relaxed);
  }

 private:
  callbacks calls_;
  std::atomic<std::uint64_t> chunk_count_ = 0;
};

/// Passes all chunks to the caller's functions. An exception that they throw ends the feed.
class callback_receiver final : public c_receiver {
 public:
  explicit callback_receiver(const cutpoint_receiver& receiver) noexcept : receiver_(receiver) {}

  status begin_stream(std::uint64_t stream) override {
    if (receiver_.begin_stream == nullptr) return {};
    return calls().call("begin_stream", [&] { return receiver_.begin_stream(receiver_.context, stream); });
  }
  status take(const delivered_chunk& chunks) override {
    count(chunks);
    if (receiver_.take_chunk == nullptr) return {};
    const cutpoint_chunk chunk = to_c(record_of(chunks));
    return calls().call("take_chunk",
                        [&] { return receiver_.take_chunk(receiver_.context, &chunk, chunks.bytes.data()); });
  }
  status end_stream(std::uint64_t stream, const status& stream_outcome) override {
    if (receiver_.end_stream == nullptr) return {};
    const int outcome = static_cast<int>(stream_outcome.code());
    return calls().call("end_stream", [&] { return receiver_.end_stream(receiver_.context, stream, outcome); });
  }

 private:
  const cutpoint_receiver receiver_;
};

/// Keeps chunks until any thread takes them.
class queue_receiver final : public c_receiver {
 public:
  explicit queue_receiver(std::uint64_t most_waiting) : most_waiting_(most_waiting) {}

  status begin_stream(std::uint64_t) override { return {}; }
  status end_stream(std::uint64_t, const status&) override { return {}; }
  status take(const delivered_chunk& chunks) override {
    count(chunks);
    return waiting_.take(chunks);
  }

  [[nodiscard]] bool is_full() override { return waiting_.waiting() >= most_waiting_; }
  [[nodiscard]] std::optional<std::size_t> move_to(std::span<cutpoint_chunk> room) override {
    std::array<chunk_record, 64> some;
    std::size_t moved = 0;
    while (moved < room.size()) {
      const std::size_t count = waiting_.take(std::span(some).first(std::min(some.size(), room.size() - moved)));
      if (count == 0) break;
      std::transform(some.begin(), some.begin() + count, room.begin() + static_cast<std::ptrdiff_t>(moved), to_c);
      moved += count;
    }
    return moved;
  }

 private:
  std::uint64_t most_waiting_;
  chunk_queue waiting_;
};

}  // namespace cutpoint::embed

using cutpoint::embed::outcome;

// The feed's handle: the feed, the state of its streams, and the last error.

struct cutpoint_feed {
 public:
  cutpoint_feed(std::shared_ptr<cutpoint::engine> engine,
                std::unique_ptr<cutpoint::embed::c_receiver> receiver) noexcept
      : engine_(std::move(engine)), receiver_(std::move(receiver)) {}

  [[nodiscard]] outcome open(cutpoint::feed_options options) {
    options.cancel = &cancel_;
    auto new_feed = engine_->open(options, *receiver_);
    if (!new_feed) return new_feed.error();
    feed_.emplace(*std::move(new_feed));
    return {};
  }

  /// Runs a call and keeps its failure. Returns CUTPOINT_BUSY if another thread is in a call.
  template <class Body>
  cutpoint_status exclusively(Body&& body) noexcept {
    if (const cutpoint_status entered = receiver_->calls().enter(); entered != CUTPOINT_OK) return entered;
    cutpoint_error error = {};
    const cutpoint_status code = cutpoint::embed::guarded(&error, std::forward<Body>(body));
    // The state of the engine's feed is unknown after an exception.
    if (code == CUTPOINT_OUT_OF_MEMORY || code == CUTPOINT_INTERNAL_ERROR) phase_ = phase::broken;
    if (code != CUTPOINT_OK) keep(error);
    receiver_->calls().leave();
    return code;
  }

  // Must be called within `exclusively`.

  [[nodiscard]] outcome begin(std::uint64_t stream) {
    if (outcome ready = expect(phase::between_streams); !ready.ok()) return ready;
    phase_ = phase::in_stream;
    return settle(feed_->begin(stream));
  }
  [[nodiscard]] outcome write(cutpoint::byte_span bytes) {
    if (outcome ready = expect_room(); !ready.ok()) return ready;
    return settle(feed_->write(bytes));
  }
  [[nodiscard]] outcome write_zeros(std::uint64_t byte_count) {
    if (outcome ready = expect_room(); !ready.ok()) return ready;
    return settle(feed_->write_zeros(byte_count));
  }
  [[nodiscard]] outcome end(cutpoint_status why) {
    if (outcome ready = expect(phase::in_stream); !ready.ok()) return ready;
    if (why < CUTPOINT_OK || why > CUTPOINT_BACKEND_FAILURE) {
      return {CUTPOINT_INVALID_ARGUMENT, "a stream cannot end with outcome = " + std::to_string(why) +
                                             ", which must be from 0 to " + std::to_string(CUTPOINT_BACKEND_FAILURE)};
    }
    phase_ = phase::between_streams;
    if (why == CUTPOINT_OK) return settle(feed_->end());
    return settle(feed_->end({static_cast<cutpoint::status_code>(why), "the caller ended the stream with an error"}));
  }
  [[nodiscard]] outcome finish() {
    if (outcome ready = expect(phase::between_streams); !ready.ok()) return ready;
    if (cutpoint::status done = feed_->finish(); !done.ok()) return settle(std::move(done));
    phase_ = phase::finished;  // also if the cancellation came too late
    return {};
  }
  [[nodiscard]] cutpoint_statistics statistics() const {
    return cutpoint::embed::statistics_of(feed_->statistics(), receiver_->chunk_count());
  }

  // May be called at any time.

  void cancel() noexcept { cancel_.request(); }
  [[nodiscard]] cutpoint::embed::c_receiver& receiver() noexcept { return *receiver_; }
  [[nodiscard]] cutpoint_error last_error() const noexcept {
    const std::lock_guard lock(error_mutex_);
    return last_error_;
  }

 private:
  enum class phase { between_streams, in_stream, finished, broken };

  [[nodiscard]] outcome expect(phase needed) const {
    if (!failure_.ok()) return failure_;
    if (phase_ == phase::broken) return {CUTPOINT_OUT_OF_MEMORY, "the feed ran out of memory before"};
    if (phase_ == needed) return {};
    if (phase_ == phase::finished) return {CUTPOINT_WRONG_STATE, "the feed has been finished"};
    return {CUTPOINT_WRONG_STATE,
            phase_ == phase::in_stream ? "a stream has begun and not ended" : "no stream has begun"};
  }
  [[nodiscard]] outcome expect_room() {
    outcome ready = expect(phase::in_stream);
    if (!ready.ok() || !receiver_->is_full()) return ready;
    return {CUTPOINT_CHUNKS_WAITING, "too many chunks wait; take some, then write these bytes again"};
  }
  /// Returns the outcome of a call of the engine's feed, and keeps a failure that ends the feed.
  [[nodiscard]] outcome settle(cutpoint::status status) {
    if (cancel_.is_requested() && status.ok()) status = {cutpoint::status_code::cancelled, "the feed was cancelled"};
    if (status.ok()) return {};
    const bool only_the_stream = status.code() == cutpoint::status_code::memory_limit && feed_->failure().ok();
    if (only_the_stream) {
      phase_ = phase::between_streams;
      return status;
    }
    const bool only_the_call = status.code() == cutpoint::status_code::invalid_argument && feed_->failure().ok();
    if (only_the_call) return status;
    failure_ = receiver_->calls().failure().value_or(outcome(status));
    return failure_;
  }
  void keep(const cutpoint_error& error) noexcept {
    const std::lock_guard lock(error_mutex_);
    last_error_ = error;
  }

  std::shared_ptr<cutpoint::engine> engine_;
  std::unique_ptr<cutpoint::embed::c_receiver> receiver_;
  cutpoint::cancellation cancel_;
  std::optional<cutpoint::feed> feed_;  ///< must be destroyed before the members above, which it uses
  phase phase_ = phase::between_streams;
  outcome failure_;  ///< of the feed; permanent
  mutable std::mutex error_mutex_;
  cutpoint_error last_error_ = {};
};

namespace {

constexpr std::uint64_t first_receiver_bytes = offsetof(cutpoint_receiver, end_stream) + sizeof(void*);

/// Runs a call on a feed, which must not be null.
template <class Body>
cutpoint_status use(cutpoint_feed* feed, Body&& body) noexcept {
  return feed != nullptr ? feed->exclusively(std::forward<Body>(body)) : CUTPOINT_INVALID_ARGUMENT;
}

}  // namespace

extern "C" {

cutpoint_status cutpoint_feed_create(cutpoint_engine* engine, const cutpoint_feed_options* options,
                                     const cutpoint_receiver* receiver, cutpoint_feed** feed, cutpoint_error* error) {
  return cutpoint::embed::guarded(error, [&]() -> outcome {
    if (feed == nullptr) return {CUTPOINT_INVALID_ARGUMENT, "feed is null: there is no place for the handle"};
    *feed = nullptr;
    if (engine == nullptr) return {CUTPOINT_INVALID_ARGUMENT, "engine is null"};
    std::optional<cutpoint::embed::read_options> read;
    if (outcome done = cutpoint::embed::read(options, read); !done.ok()) return done;
    engine->rates.complete(read->feed);
    std::unique_ptr<cutpoint::embed::c_receiver> chosen;
    if (receiver != nullptr) {
      cutpoint_receiver functions = {};
      if (outcome done = cutpoint::embed::read_structure(receiver, "receiver", first_receiver_bytes, functions);
          !done.ok())
        return done;
      chosen = std::make_unique<cutpoint::embed::callback_receiver>(functions);
    } else {
      chosen = std::make_unique<cutpoint::embed::queue_receiver>(read->waiting_chunks);
    }
    auto handle = std::make_unique<cutpoint_feed>(engine->implementation, std::move(chosen));
    if (outcome done = handle->open(read->feed); !done.ok()) return done;
    *feed = handle.release();
    return {};
  });
}

cutpoint_status cutpoint_feed_destroy(cutpoint_feed* feed) {
  if (feed == nullptr) return CUTPOINT_OK;
  if (const cutpoint_status closed = feed->receiver().calls().enter(); closed != CUTPOINT_OK) return closed;
  feed->cancel();  // otherwise the destructor would wait until every thread has finished its segment
  delete feed;
  return CUTPOINT_OK;
}

cutpoint_status cutpoint_feed_begin(cutpoint_feed* feed, uint64_t stream) {
  return use(feed, [&] { return feed->begin(stream); });
}

cutpoint_status cutpoint_feed_write(cutpoint_feed* feed, const void* bytes, size_t byte_count) {
  return use(feed, [&]() -> outcome {
    if (bytes == nullptr && byte_count != 0)
      return {CUTPOINT_INVALID_ARGUMENT, "bytes is null, but their count is not 0"};
    return feed->write({static_cast<const std::uint8_t*>(bytes), byte_count});
  });
}

cutpoint_status cutpoint_feed_write_zeros(cutpoint_feed* feed, uint64_t byte_count) {
  return use(feed, [&] { return feed->write_zeros(byte_count); });
}

cutpoint_status cutpoint_feed_end(cutpoint_feed* feed, cutpoint_status why) {
  return use(feed, [&] { return feed->end(why); });
}

cutpoint_status cutpoint_feed_finish(cutpoint_feed* feed) {
  return use(feed, [&] { return feed->finish(); });
}

cutpoint_status cutpoint_feed_take(cutpoint_feed* feed, cutpoint_chunk* chunks, size_t capacity, size_t* count) {
  if (count != nullptr) *count = 0;
  if (feed == nullptr || count == nullptr || (chunks == nullptr && capacity != 0)) return CUTPOINT_INVALID_ARGUMENT;
  return cutpoint::embed::guarded(nullptr, [&]() -> outcome {
    const auto moved = feed->receiver().move_to({chunks, capacity});
    if (!moved) return {CUTPOINT_WRONG_STATE, "the feed's chunks go to its receiver"};
    *count = *moved;
    return {};
  });
}

cutpoint_status cutpoint_feed_cancel(cutpoint_feed* feed) {
  if (feed == nullptr) return CUTPOINT_INVALID_ARGUMENT;
  feed->cancel();
  return CUTPOINT_OK;
}

cutpoint_status cutpoint_feed_statistics(cutpoint_feed* feed, cutpoint_statistics* statistics) {
  if (feed == nullptr || statistics == nullptr) return CUTPOINT_INVALID_ARGUMENT;
  return feed->exclusively(
      [&] { return cutpoint::embed::write_structure(feed->statistics(), "statistics", *statistics); });
}

cutpoint_status cutpoint_feed_error(const cutpoint_feed* feed, cutpoint_error* error) {
  if (feed == nullptr || error == nullptr) return CUTPOINT_INVALID_ARGUMENT;
  *error = feed->last_error();
  return CUTPOINT_OK;
}

}  // extern "C"
