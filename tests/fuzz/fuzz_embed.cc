// Fuzz target for the C interface. The input chooses valid and invalid calls on a few handles. Each call must return
// the status that the state of its handle requires, and the chunks of a finished feed must cover its streams.
#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <cutpoint/cutpoint.h>

#include "tests/fuzz/fuzzed_choices.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

/// Requires a status code that has a name and is not the internal error.
void require_known(cutpoint_status code, const char* call) {
  const bool is_named = std::strcmp(cutpoint_status_name(code), "unknown") != 0;
  require(is_named && code != CUTPOINT_INTERNAL_ERROR, std::string(call) + " gave " + std::to_string(code));
}

void require_told(cutpoint_status code, const cutpoint_error& error, const char* call) {
  require_known(code, call);
  require(error.code == code && (error.message[0] != 0) == (code != CUTPOINT_OK), std::string(call) + ": wrong words");
}

/// A feed together with a model of its state, which gives the expected results of calls.
class modelled_feed {
 public:
  modelled_feed(cutpoint_engine* engine, choices& drawn) {
    static constexpr std::array cuts = {"gear(min_bytes=64,avg_bytes=256,max_bytes=1K)",
                                        "fastcdc(avg_bytes=1K)",
                                        "ae-max",
                                        "seqcdc-inc",
                                        "restic",
                                        "fixed"};
    static constexpr std::array wrong_cuts = {"gear(avg_bytes=3)", "no such", "gear(", ""};
    static constexpr std::array fingerprints = {"none", "sha1", "xxh3", "blake3"};
    static constexpr std::array<std::uint64_t, 3> memories = {0, 16 * MiB, 1 * MiB};
    struct {
      cutpoint_feed_options known;
      std::array<unsigned char, 8192> later;  ///< the rest of a structure whose size is given as larger
    } padded = {};
    cutpoint_feed_options& options = padded.known;
    if (drawn.once_in(32)) padded.later.back() = padded.later.front() = 1;
    options.struct_bytes = drawn.once_in(32) ? drawn.word() : sizeof options;
    options.cuts = cuts[drawn.between(0, cuts.size() - 1)];
    if (drawn.once_in(16)) options.cuts = nullptr;
    if (drawn.once_in(16)) options.cuts = wrong_cuts[drawn.between(0, wrong_cuts.size() - 1)];
    options.fingerprint = drawn.once_in(16) ? "sha3" : fingerprints[drawn.between(0, fingerprints.size() - 1)];
    options.back_end = drawn.once_in(16) ? "cuda" : "scalar";
    options.memory_bytes = memories[drawn.between(0, memories.size() - 1)];
    if (drawn.once_in(16)) options.memory_bytes = drawn.once_in(2) ? 100 : never;
    options.segment_bytes = drawn.once_in(2) ? 0 : drawn.word();
    options.waiting_chunks = drawn.once_in(2) ? 0 : drawn.between(1, 50);
    has_receiver_ = drawn.once_in(2);
    fails_at_ = drawn.once_in(4) ? drawn.between(1, 100) : never;
    cutpoint_receiver receiver = {};
    receiver.struct_bytes = sizeof receiver;
    receiver.context = this;
    receiver.take_chunk = [](void* self, const cutpoint_chunk* chunk, const void* bytes) {
      return static_cast<modelled_feed*>(self)->called(*chunk, static_cast<const unsigned char*>(bytes));
    };
    cutpoint_error error = {};
    const int code = cutpoint_feed_create(engine, &options, has_receiver_ ? &receiver : nullptr, &feed_, &error);
    require_told(code, error, "create");
    require((feed_ != nullptr) == (code == CUTPOINT_OK), "a handle goes with success");
  }
  modelled_feed(const modelled_feed&) = delete;
  modelled_feed& operator=(const modelled_feed&) = delete;
  ~modelled_feed() { require(cutpoint_feed_destroy(feed_) == CUTPOINT_OK, "destroy"); }

  void begin() {
    if (!succeeds(cutpoint_feed_begin(feed_, streams_.size()), phase::between, "begin")) return;
    phase_ = phase::within;
    const std::lock_guard lock(mutex_);
    streams_.emplace_back();
  }

  void write(byte_span bytes) {
    if (succeeds(cutpoint_feed_write(feed_, bytes.data(), bytes.size()), phase::within, "write")) {
      streams_.back().written += bytes.size();
    }
  }

  void write_zeros(std::uint64_t count) {
    if (succeeds(cutpoint_feed_write_zeros(feed_, count), phase::within, "write_zeros")) {
      streams_.back().written += count;
    }
  }

  void write_null() { require(cutpoint_feed_write(feed_, nullptr, 1) != CUTPOINT_OK, "null was written"); }

  void end(cutpoint_status outcome) {
    if (!succeeds(cutpoint_feed_end(feed_, outcome), phase::within, "end")) return;
    require(outcome >= CUTPOINT_OK && outcome <= CUTPOINT_BACKEND_FAILURE, "a stream ended with any number");
    phase_ = phase::between;
    streams_.back().is_whole = outcome == CUTPOINT_OK;
  }

  void finish() {
    if (!succeeds(cutpoint_feed_finish(feed_), phase::between, "finish")) return;
    phase_ = phase::finished;
    while (take(64)) continue;
    for (const stream_state& each : streams_) {
      require(each.covered == each.written || !each.is_whole, "chunks cover their stream");
    }
  }

  /// Takes chunks of a feed without a callback. Returns whether it got any.
  bool take(std::size_t capacity) {
    std::vector<cutpoint_chunk> room(capacity);
    std::size_t count = 0;
    const int code = cutpoint_feed_take(feed_, room.data(), capacity, &count);
    const int refused = feed_ == nullptr ? CUTPOINT_INVALID_ARGUMENT : CUTPOINT_WRONG_STATE;
    require(code == (feed_ == nullptr || has_receiver_ ? refused : CUTPOINT_OK) && count <= capacity, "take");
    for (std::size_t i = 0; i < count; ++i) came(room[i]);
    return count != 0;
  }

  void cancel() {
    require_known(cutpoint_feed_cancel(feed_), "cancel");
    may_fail_ = true;
  }

  void look(std::uint64_t struct_bytes) {
    struct {
      cutpoint_statistics statistics;
      std::array<unsigned char, 8192> room;
    } padded = {};
    padded.statistics.struct_bytes = struct_bytes;
    require_known(cutpoint_feed_statistics(feed_, &padded.statistics), "statistics");
    cutpoint_error error = {};
    require_known(cutpoint_feed_error(feed_, &error), "error");
    require_known(error.code, "the last error");
  }

 private:
  enum class phase { between, within, finished };
  struct stream_state {
    std::uint64_t written = 0;
    std::uint64_t covered = 0;
    bool is_whole = false;  ///< whether the stream ended without a failure
  };

  /// Checks the result of a call that is valid only in the phase `needed`. Returns whether the call succeeded.
  bool succeeds(int code, phase needed, const std::string& call) {
    require_known(code, call.c_str());
    if (feed_ == nullptr) require(code == CUTPOINT_INVALID_ARGUMENT, call + " of no feed");
    if (feed_ == nullptr) return false;
    if (failure_ != CUTPOINT_OK) require(code == failure_, call + " after a failure");
    if (code == CUTPOINT_OK) require(needed == phase_, call + " out of its turn");
    if (code == CUTPOINT_CANCELLED || code == CUTPOINT_CALLBACK_FAILED) {
      require(may_fail_ || fails_at_ != never, call + " failed without a cause");
      failure_ = code;
    }
    if (code == CUTPOINT_MEMORY_LIMIT) phase_ = phase::between;  // only the stream has ended
    return code == CUTPOINT_OK;
  }

  /// Is called by the engine's threads, one at a time.
  int called(const cutpoint_chunk& chunk, const unsigned char* bytes) {
    last_byte_ = bytes[chunk.length - 1];  // checks that it can be read
    require(cutpoint_feed_write(feed_, bytes, 1) == CUTPOINT_WRONG_STATE, "a callback may not feed");
    came(chunk);
    return ++called_ == fails_at_ ? 7 : 0;
  }

  void came(const cutpoint_chunk& chunk) {
    const std::lock_guard lock(mutex_);
    require(chunk.length > 0 && chunk.count > 0 && chunk.digest_bytes <= 32, "a chunk has bytes");
    require(chunk.stream < streams_.size(), "a chunk is of a stream");
    stream_state& stream = streams_[chunk.stream];
    require(chunk.offset == stream.covered, "chunks follow each other");
    stream.covered += chunk.length * chunk.count;
  }

  cutpoint_feed* feed_ = nullptr;
  bool has_receiver_ = false;
  bool may_fail_ = false;
  std::uint64_t fails_at_ = never;
  std::uint64_t called_ = 0;
  volatile unsigned char last_byte_ = 0;
  phase phase_ = phase::between;
  int failure_ = CUTPOINT_OK;
  std::mutex mutex_;
  std::deque<stream_state> streams_;  ///< by stream number
};

/// Makes one call on one of the feeds. Most calls are valid.
void call(std::vector<std::unique_ptr<modelled_feed>>& feeds, cutpoint_engine* engine, byte_span content,
          choices& drawn) {
  auto& feed = feeds[drawn.between(0, feeds.size() - 1)];
  const std::uint64_t which = drawn.between(0, 63);
  if (which < 14) return feed->begin();
  if (which < 36) return feed->write(content.subspan(drawn.between(0, 1000), drawn.word()));
  if (which < 40) return feed->write_zeros(drawn.word() * 64);
  if (which < 50) return feed->end(CUTPOINT_OK);
  if (which < 52) return feed->end(static_cast<int>(drawn.between(0, 110)));
  if (which < 55) return feed->finish();
  if (which < 58) return static_cast<void>(feed->take(drawn.between(0, 100)));
  if (which < 60) return feed->look(drawn.between(0, 5000));
  if (which < 61) return feed->cancel();
  if (which < 62) return feed->write_null();
  feed = std::make_unique<modelled_feed>(drawn.once_in(8) ? nullptr : engine, drawn);
}

/// Makes the calls that need no feed.
void call_whole(cutpoint_engine* engine, byte_span content, choices& drawn) {
  std::string text(drawn.between(0, 40), 'x');
  for (char& each : text) each = "gearfastcdc()=,0123456789KM_avgbytesminax"[drawn.between(0, 40)];
  std::vector<char> room(drawn.between(0, 300));
  std::size_t length = 0;
  cutpoint_error error = {};
  require_told(cutpoint_describe_cuts(text.c_str(), room.data(), room.size(), &length, &error), error, "describe_cuts");
  require_known(cutpoint_list_names(static_cast<int>(drawn.between(0, 6)) - 1, room.data(), room.size(), &length),
                "list");
  cutpoint_feed_options options = {};
  options.struct_bytes = sizeof options;
  options.cuts = "gear(min_bytes=64,avg_bytes=256,max_bytes=1K)";
  options.back_end = "scalar";
  std::vector<cutpoint_chunk> chunks(drawn.between(0, 100));
  std::size_t count = 0;
  const std::size_t byte_count = drawn.word();
  require_told(
      cutpoint_chunk_buffer(engine, &options, content.data(), byte_count, chunks.data(), chunks.size(), &count, &error),
      error, "chunk_buffer");
  std::uint64_t covered = 0;
  for (std::size_t i = 0; i < std::min(count, chunks.size()); ++i) covered += chunks[i].length;
  require(covered == byte_count || count > chunks.size(), "chunks cover the buffer");
}

}  // namespace
}  // namespace cutpoint::tests

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cutpoint::tests;
  static cutpoint_engine* const engine = [] {
    cutpoint_engine_options options = {};
    options.struct_bytes = sizeof options;
    options.threads = 2;
    cutpoint_engine* new_engine = nullptr;
    require(cutpoint_engine_create(&options, &new_engine, nullptr) == CUTPOINT_OK, "an engine");
    return new_engine;
  }();
  static const std::vector<std::uint8_t> content = [] {
    seeded_choices random(4);
    return make_stream(content::mixed, 80'000, random);
  }();
  fuzzed_choices drawn({data, size});
  std::vector<std::unique_ptr<modelled_feed>> feeds;
  for (int i = 0; i < 3; ++i) feeds.push_back(std::make_unique<modelled_feed>(engine, drawn));
  while (!drawn.rest().empty()) call(feeds, engine, content, drawn);
  call_whole(engine, content, drawn);
  return 0;
}
