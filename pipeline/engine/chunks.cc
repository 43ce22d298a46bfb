// Chunks returned as values, for callers that have no receiver of their own.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <cutpoint/chunks.h>

#include "pipeline/engine/threaded_feed.h"

namespace cutpoint {

chunk_record record_of(const delivered_chunk& chunk) noexcept {
  return {.stream = chunk.stream,
          .offset = chunk.offset,
          .length = chunk.length,
          .count = chunk.count,
          .fingerprint = chunk.fingerprint};
}

// --- Lists -----------------------------------------------------------------------------------------------------------

void chunk_list_digest::add(std::uint64_t length, std::uint64_t count, const digest& fingerprint) {
  has_contents_ = has_contents_ && fingerprint.size != 0;
  if (last_.length == length && last_.fingerprint == fingerprint) {
    last_.count += count;
    return;
  }
  sum_ = value();
  last_ = {.length = length, .count = count, .fingerprint = fingerprint};
}

digest chunk_list_digest::value() {
  if (last_.length == 0) return sum_;
  std::array<std::uint8_t, 2 * largest_digest_bytes + 2 * sizeof(std::uint64_t)> record;
  std::uint8_t* end = std::ranges::copy(sum_.bytes, record.data()).out;
  end = std::ranges::copy(last_.fingerprint.bytes, end).out;
  std::memcpy(end, &last_.length, sizeof(std::uint64_t));
  std::memcpy(end + sizeof(std::uint64_t), &last_.count, sizeof(std::uint64_t));
  return *hash_(record);
}

bool chunk_list_digest::is_same_content(chunk_list_digest& other) {
  return has_contents_ && other.has_contents_ && value() == other.value();
}

// --- Queue -----------------------------------------------------------------------------------------------------------

std::size_t chunk_queue::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

std::size_t chunk_queue::take(std::span<chunk_record> room) {
  const std::lock_guard lock(mutex_);
  const std::size_t count = std::min(room.size(), waiting_.size());
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
  std::copy(waiting_.begin(), end, room.begin());
  waiting_.erase(waiting_.begin(), end);
  return count;
}

std::vector<chunk_record> chunk_queue::take_all() {
  const std::lock_guard lock(mutex_);
  std::vector<chunk_record> all(waiting_.begin(), waiting_.end());
  waiting_.clear();
  return all;
}

status chunk_queue::take(const delivered_chunk& chunk) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(record_of(chunk));
  return {};
}

// --- Columns ---------------------------------------------------------------------------------------------------------

status chunk_columns::take(const delivered_chunk& chunk) {
  const byte_span digest = chunk.fingerprint.view();
  for (std::uint64_t i = 0; i < chunk.count; ++i) {
    offsets.push_back(chunk.offset + i * chunk.length);
    lengths.push_back(chunk.length);
    digests.insert(digests.end(), digest.begin(), digest.end());
  }
  return {};
}

// --- Bytes in memory -------------------------------------------------------------------------------------------------

status feed_buffer(engine& engine, const feed_options& options, byte_span bytes, chunk_receiver& receiver) {
  CUTPOINT_TRY(auto feed, engine.open(options, receiver, bytes));
  CUTPOINT_RETURN_IF_FAILED(feed.begin(0));
  CUTPOINT_RETURN_IF_FAILED(feed.write(bytes));
  CUTPOINT_RETURN_IF_FAILED(feed.end());
  return feed.finish();
}

result<std::vector<chunk_record>> chunk_buffer(engine& engine, const feed_options& options, byte_span bytes) {
  std::vector<chunk_record> chunks;
  chunk_callback keep([&chunks](const delivered_chunk& chunk) {
    chunks.push_back(record_of(chunk));
    return status();
  });
  CUTPOINT_RETURN_IF_FAILED(feed_buffer(engine, options, bytes, keep));
  return chunks;
}

// --- A source --------------------------------------------------------------------------------------------------------

/// A source that limits the size of reads and holes, so that their chunks can be returned before more is read.
class chunk_reader::short_reads final : public source {
 public:
  /// `reach` is that of the chunker. Without a maximum chunk size a hole is written and cut as other bytes are.
  short_reads(source& input, std::uint64_t reach) noexcept
      : source_(input), most_hole_bytes_(reach < unlimited / 64 ? std::max(64 * MiB, 64 * reach) : 64 * MiB) {}

  [[nodiscard]] result<std::size_t> read(std::span<std::uint8_t> destination) override {
    return source_.read(destination.first(std::min(destination.size(), most_bytes)));
  }

  [[nodiscard]] result<std::uint64_t> skip_hole() override {
    if (hole_left_ == 0) {
      CUTPOINT_TRY(hole_left_, source_.skip_hole());
    }
    const std::uint64_t skipped = std::min(hole_left_, most_hole_bytes_);
    hole_left_ -= skipped;
    return skipped;
  }

 private:
  static constexpr std::size_t most_bytes = 4 * MiB;

  source& source_;
  const std::uint64_t
      most_hole_bytes_;  ///< more than of data, and than a few chunks, because most of a hole is counted
  std::uint64_t hole_left_ = 0;
};

chunk_reader::chunk_reader(std::unique_ptr<chunk_queue> queue, feed feed, std::unique_ptr<short_reads> input) noexcept
    : queue_(std::move(queue)), feed_(std::move(feed)), source_(std::move(input)) {}

chunk_reader::chunk_reader(chunk_reader&&) noexcept = default;
chunk_reader::~chunk_reader() = default;

result<chunk_reader> chunk_reader::open(engine& engine, const feed_options& options, source& source) {
  auto queue = std::make_unique<chunk_queue>();
  CUTPOINT_TRY(auto feed, engine.open(options, *queue));
  CUTPOINT_RETURN_IF_FAILED(feed.begin(0));
  return result<chunk_reader>(
      chunk_reader(std::move(queue), std::move(feed), std::make_unique<short_reads>(source, options.cuts.reach())));
}

result<std::size_t> chunk_reader::read(std::span<chunk_record> room) {
  for (;;) {
    if (const std::size_t count = queue_->take(room); count != 0) return count;
    if (!failure_.ok()) return failure_;
    if (is_done_ || room.empty()) return std::size_t{0};
    const auto goes_on = advance();
    if (!goes_on) failure_ = goes_on.error();
  }
}

result<bool> chunk_reader::advance() {
  const auto goes_on = feed_next_block(feed_, *source_);
  if (goes_on && *goes_on) return true;
  // Chunks that are decided by the bytes so far are delivered after a failure, too.
  is_done_ = true;
  const status finished = feed_.finish();
  if (!goes_on) return goes_on.error();
  if (!finished.ok()) return finished;
  return false;
}

}  // namespace cutpoint
