// The functions of the interface for C that make engines and cut bytes in memory.
#include <algorithm>
#include <array>

#include "bindings/c/options.h"
#include "bindings/c/structures.h"

namespace cutpoint::embed {

namespace {

constexpr std::uint64_t first_engine_options_bytes = 16;

/// By `CUTPOINT_PLACED_` numbers.
constexpr std::array placements = {thread_placement::none, thread_placement::devices, thread_placement::cores};

/// Writes chunks one by one until the array is full, and counts all.
class chunk_writer final : public chunk_receiver {
 public:
  explicit chunk_writer(std::span<cutpoint_chunk> room) noexcept : room_(room) {}

  status begin_stream(std::uint64_t) override { return {}; }
  status end_stream(std::uint64_t, const status&) override { return {}; }
  status take(const delivered_chunk& chunks) override {
    cutpoint_chunk next = to_c(record_of(chunks));
    next.count = 1;
    for (std::uint64_t i = 0; i < chunks.count && count_ + i < room_.size(); ++i) {
      room_[count_ + i] = next;
      next.offset += next.length;
    }
    count_ += chunks.count;
    return {};
  }

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  std::span<cutpoint_chunk> room_;
  std::uint64_t count_ = 0;
};

outcome make(const cutpoint_engine_options* user_options, cutpoint_engine** created) {
  if (created == nullptr) return {CUTPOINT_INVALID_ARGUMENT, "engine is null: there is no place for the handle"};
  *created = nullptr;
  cutpoint_engine_options options = {};
  if (outcome done = read_structure(user_options, "engine_options", first_engine_options_bytes, options); !done.ok())
    return done;
  thread_placement placement = thread_placement::none;
  if (outcome done = read_choice(options.placement, "placement", placements, placement); !done.ok()) return done;
  auto handle = std::make_unique<cutpoint_engine>();
  auto new_engine = engine::make({.threads = options.threads,
                                  .thread_limit = options.thread_limit,
                                  .memory_bytes = options.memory_bytes,
                                  .device_memory_bytes = options.device_memory_bytes,
                                  .placement = placement});
  if (!new_engine) return new_engine.error();
  handle->implementation = std::make_shared<engine>(*std::move(new_engine));
  *created = handle.release();
  return {};
}

}  // namespace

}  // namespace cutpoint::embed

extern "C" {

cutpoint_status cutpoint_engine_create(const cutpoint_engine_options* options, cutpoint_engine** engine,
                                       cutpoint_error* error) {
  return cutpoint::embed::guarded(error, [&] { return cutpoint::embed::make(options, engine); });
}

void cutpoint_engine_destroy(cutpoint_engine* engine) { delete engine; }

uint64_t cutpoint_engine_threads(const cutpoint_engine* engine) {
  return engine != nullptr ? engine->implementation->thread_count() : 0;
}

cutpoint_status cutpoint_engine_measure(cutpoint_engine* engine, const cutpoint_feed_options* options,
                                        cutpoint_rates* rates, cutpoint_error* error) {
  using cutpoint::embed::outcome;
  return cutpoint::embed::guarded(error, [&]() -> outcome {
    if (engine == nullptr) return {CUTPOINT_INVALID_ARGUMENT, "engine is null"};
    std::optional<cutpoint::embed::read_options> read;
    if (outcome done = cutpoint::embed::read(options, read); !done.ok()) return done;
    const auto measured = engine->rates.measure(read->feed, engine->implementation->thread_count());
    if (!measured) return measured.error();
    if (rates == nullptr) return {};
    return cutpoint::embed::write_structure(cutpoint::embed::rates_of(measured->get()), "rates", *rates);
  });
}

cutpoint_status cutpoint_chunk_buffer(cutpoint_engine* engine, const cutpoint_feed_options* options, const void* bytes,
                                      size_t byte_count, cutpoint_chunk* chunks, size_t capacity, size_t* count,
                                      cutpoint_error* error) {
  using cutpoint::embed::outcome;
  return cutpoint::embed::guarded(error, [&]() -> outcome {
    if (count == nullptr)
      return {CUTPOINT_INVALID_ARGUMENT, "count is null: there is no place for the number of chunks"};
    *count = 0;
    if (engine == nullptr) return {CUTPOINT_INVALID_ARGUMENT, "engine is null"};
    if (bytes == nullptr && byte_count != 0)
      return {CUTPOINT_INVALID_ARGUMENT, "bytes is null, but their count is not 0"};
    if (chunks == nullptr && capacity != 0)
      return {CUTPOINT_INVALID_ARGUMENT, "chunks is null, but their capacity is not 0"};
    std::optional<cutpoint::embed::read_options> read;
    if (outcome done = cutpoint::embed::read(options, read); !done.ok()) return done;
    engine->rates.complete(read->feed);
    const bool only_counts = capacity == 0 && chunks == nullptr;
    if (only_counts) read->feed.fingerprint = cutpoint::fingerprint_kind::none;
    cutpoint::embed::chunk_writer writer({chunks, capacity});
    const cutpoint::byte_span whole(static_cast<const std::uint8_t*>(bytes), byte_count);
    if (outcome done = cutpoint::feed_buffer(*engine->implementation, read->feed, whole, writer); !done.ok())
      return done;
    *count = static_cast<size_t>(writer.count());
    if (*count <= capacity || only_counts) return {};
    return {CUTPOINT_BUFFER_TOO_SMALL,
            std::to_string(*count) + " chunks do not fit into an array for " + std::to_string(capacity)};
  });
}

}  // extern "C"
