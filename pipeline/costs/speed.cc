// The functions that are timed, and the measurement of their rates.
#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include <cutpoint/cut_cursor.h>
#include <cutpoint/speed.h>

#include "host/core/splitmix.h"

namespace cutpoint {

namespace {

constexpr std::uint64_t least_bytes = 16 * MiB;
/// The clock is read once in this many bytes, because reading it takes as long as reading some KiB of memory.
constexpr std::uint64_t look_bytes = 4 * MiB;

/// Returns the end of the chunk range that begins at `first` and has about `work_block_bytes`.
std::size_t block_end(const std::vector<chunk>& chunks, std::size_t first) {
  std::uint64_t bytes = 0;
  while (first < chunks.size() && bytes < work_block_bytes) bytes += chunks[first++].length;
  return first;
}

/// Makes the digests of about `work_block_bytes` of chunks from `first` on. Returns the index of the next chunk.
result<std::size_t> hash_block(batch_fingerprinter& batch, byte_span data, const std::vector<chunk>& chunks,
                               std::size_t first, std::vector<digest>& digests) {
  const std::size_t end = block_end(chunks, first);
  digests.resize(std::max(digests.size(), end - first));
  for (std::size_t i = first; i < end; ++i)
    batch.submit(data.subspan(chunks[i].offset, chunks[i].length), digests[i - first]);
  CUTPOINT_RETURN_IF_FAILED(batch.flush());
  return end;
}

}  // namespace

timed_work cutting_work(const chunker& cuts, byte_span data) {
  return [cursor = cut_cursor(cuts), data, position = std::uint64_t{0}](std::uint64_t begin) mutable {
    const std::uint64_t end = std::min<std::uint64_t>(data.size(), begin + work_block_bytes);
    while (begin < end) {
      const std::uint64_t length = *cursor.next_cut({.bytes = data, .start = begin, .at_end = true}, position);
      begin += length;
      position += length;  // counts on when the data are cut again, so that they are scanned again
    }
    return begin;
  };
}

timed_work hashing_work(std::shared_ptr<batch_fingerprinter> batch, byte_span data,
                        std::shared_ptr<const std::vector<chunk>> chunks) {
  return [batch = std::move(batch), data, chunks = std::move(chunks), digests = std::vector<digest>(),
          next = std::size_t{0}](std::uint64_t begin) mutable {
    if (begin == 0) next = 0;
    // The caller guarantees that the batch does not fail.
    next = hash_block(*batch, data, *chunks, next, digests).value();
    return next == chunks->size() ? std::uint64_t{data.size()} : (*chunks)[next].offset;
  };
}

double rate_of(const timed_work& work, std::uint64_t data_bytes, const measuring_effort& effort) {
  const double begin = thread_seconds();
  std::uint64_t done = 0;
  std::uint64_t next_look = std::min(look_bytes, least_bytes);
  for (std::uint64_t position = 0;;) {
    const std::uint64_t stopped = work(position);
    done += stopped - position;
    position = stopped == data_bytes ? 0 : stopped;
    const bool is_at_end = position == 0 && data_bytes >= look_bytes;
    if (!is_at_end && done < next_look) continue;
    next_look = done + look_bytes;
    const double seconds = thread_seconds() - begin;
    const bool did_all = done >= data_bytes && seconds >= effort.least_seconds;
    const bool did_enough = done >= std::min(data_bytes, least_bytes) && seconds >= effort.most_seconds;
    if (did_all || did_enough) return static_cast<double>(done) / seconds;
  }
}

// Aligned test data from a generator, from files or from memory.

aligned_bytes aligned_bytes::random(std::uint64_t size, std::uint64_t seed) {
  aligned_bytes buffer(size);
  splitmix64 random(seed << 32);  // seeds begin far apart in the generator's one sequence
  for (line& l : buffer.lines_) {
    std::array<std::uint64_t, sizeof(line) / sizeof(std::uint64_t)> words;
    for (std::uint64_t& word : words) word = random.next();
    l.bytes = std::bit_cast<std::array<std::uint8_t, sizeof(line)>>(words);
  }
  return buffer;
}

result<aligned_bytes> aligned_bytes::read_files(const std::vector<std::string>& paths, std::uint64_t most_bytes,
                                                const cancellation& cancel) {
  aligned_bytes buffer(most_bytes);
  const std::span<std::uint8_t> all(reinterpret_cast<std::uint8_t*>(buffer.lines_.data()), most_bytes);
  std::uint64_t size = 0;
  for (const std::string& path : paths) {
    CUTPOINT_TRY(auto file, file_source::open(path, &cancel));
    const std::uint64_t begin = size;
    while (size < most_bytes) {
      CUTPOINT_TRY(const auto count, file.read(all.subspan(size)));
      if (count == 0) break;
      size += count;
    }
    if (size == begin && size < most_bytes) return status{status_code::io_error, path + ": is empty"};
  }
  buffer.size_ = size;
  return buffer;
}

aligned_bytes aligned_bytes::copy(const std::vector<byte_span>& buffers) {
  std::uint64_t size = 0;
  for (const byte_span& each : buffers) size += each.size();
  aligned_bytes buffer(size);
  auto* destination = reinterpret_cast<std::uint8_t*>(buffer.lines_.data());
  for (const byte_span& each : buffers) destination = std::copy(each.begin(), each.end(), destination);
  return buffer;
}

}  // namespace cutpoint
