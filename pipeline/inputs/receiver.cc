// The receiver of inputs. It finds the input of each stream that is delivered.
#include <utility>

#include <cutpoint/inputs.h>
#include <fmt/format.h>

namespace cutpoint {

std::uint64_t input_receiver::add(std::string path) { return entries_.add({std::move(path), meaning::input}); }

std::uint64_t input_receiver::add_failure(std::string path, failure_kind kind) {
  return entries_.add({std::move(path), kind == failure_kind::fed ? meaning::failure_of_last : meaning::failure});
}

std::uint64_t input_receiver::add_second_reading(std::string path, status why) {
  has_second_readings_ = true;
  return entries_.add({std::move(path), meaning::second_reading, std::move(why)});
}

status input_receiver::begin_stream(std::uint64_t stream) {
  const entry begun = entries_.find(stream);
  if (begun.means == meaning::second_reading) second_chunks_.emplace();
  if (begun.means != meaning::input) return {};
  last_chunks_ = {};
  return begin_input(stream, begun.path);
}

status input_receiver::take(const delivered_chunk& chunk) {
  (second_chunks_ ? *second_chunks_ : last_chunks_).add(chunk.length, chunk.count, chunk.fingerprint);
  return second_chunks_ ? status() : take_chunk(chunk);
}

status input_receiver::end_stream(std::uint64_t stream, const status& outcome) {
  const entry ended = entries_.remove(stream);
  if (ended.means == meaning::second_reading) return end_second_reading(ended, outcome);
  if (ended.means == meaning::input) {
    if (status passed = end_input(stream, outcome); !passed.ok()) return passed;
  }
  if (outcome.code() == status_code::cancelled) return {};
  if (outcome.ok()) {
    ++done_count_;
    return {};
  }
  if (ended.means == meaning::failure_of_last) --done_count_;
  return fail(ended.path, outcome);
}

status input_receiver::end_second_reading(const entry& ended, const status& outcome) {
  chunk_list_digest chunks = *std::exchange(second_chunks_, std::nullopt);
  if (outcome.code() == status_code::cancelled) return {};
  if (outcome.ok() && chunks.is_same_content(last_chunks_)) return {};
  --done_count_;
  return fail(ended.path, ended.why);
}

status input_receiver::fail(const std::string& path, const status& why) {
  ++failed_count_;
  if (why.code() == status_code::io_error) return input_failed(path, why);  // it names the path
  return input_failed(path, {why.code(), fmt::format("{}: {}", path, why.message())});
}

/// Passes on the chunks between second readings.
status input_receiver::select(std::span<const delivered_chunk> chunks, std::span<std::unique_ptr<chunk_work>> work) {
  if (!has_second_readings_) return select_chunks(chunks, work);
  for (std::size_t begin = 0; begin < chunks.size();) {
    const std::uint64_t stream = chunks[begin].stream;
    std::size_t end = begin + 1;
    while (end < chunks.size() && chunks[end].stream == stream) ++end;
    if (entries_.find(stream).means != meaning::second_reading) {
      const std::size_t count = end - begin;
      if (status selected = select_chunks(chunks.subspan(begin, count), work.subspan(begin, count)); !selected.ok()) {
        return selected;
      }
    }
    begin = end;
  }
  return {};
}

status input_receiver::select_chunks(std::span<const delivered_chunk> chunks,
                                     std::span<std::unique_ptr<chunk_work>> work) {
  return chunk_receiver::select(chunks, work);
}

}  // namespace cutpoint
