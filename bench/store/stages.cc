#include "bench/store/stages.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <cutpoint/cut_stream.h>
#include <cutpoint/source.h>
#include <sys/stat.h>

namespace cutpoint::bench {

namespace {

constexpr std::size_t batch_bytes = 256 * KiB;
constexpr std::size_t most_waiting_batches = 16;

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

/// Files are entries of the root, by their paths without slashes, because the paper's stages know no folders.
store::folder_entry entry_of(const std::string& path) {
  store::folder_entry entry;
  entry.name = path;
  std::ranges::replace(entry.name, '/', '_');
  entry.kind = file_kind::regular_file;
  entry.permissions = 0600;
  struct stat facts = {};
  if (::stat(path.c_str(), &facts) == 0) entry.size = static_cast<std::uint64_t>(facts.st_size);
  return entry;
}

/// Batches between two stages. After an empty one nothing comes.
class batch_queue {
 public:
  void put(std::optional<chunk_batch> batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return batches_.size() < most_waiting_batches; });
    batches_.push_back(std::move(batch));
    changed_.notify_all();
  }
  std::optional<chunk_batch> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !batches_.empty(); });
    std::optional<chunk_batch> batch = std::move(batches_.front());
    batches_.pop_front();
    changed_.notify_all();
    return batch;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::optional<chunk_batch>> batches_;
};

/// What threads put in any order and one takes by number, from 0 on.
template <class Item>
class ordered_queue {
 public:
  void put(std::uint64_t number, Item item) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return number < next_ + most_waiting_batches; });
    items_.emplace(number, std::move(item));
    changed_.notify_all();
  }
  Item take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return items_.contains(next_); });
    Item item = std::move(items_.extract(next_++).mapped());
    changed_.notify_all();
    return item;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Item> items_;
  std::uint64_t next_ = 0;
};

/// A segment, with its chunks as if it were a stream.
struct cut_segment {
  std::vector<std::uint8_t> bytes;
  std::vector<chunk> chunks;
  double seconds = 0;
  status outcome;
};

cut_segment read_and_cut(const std::string& path, std::uint64_t offset, std::uint64_t size, const chunker& cuts) {
  const auto begin = clock::now();
  cut_segment segment;
  segment.bytes.resize(size);
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(segment.bytes.data()), static_cast<std::streamsize>(size));
  if (static_cast<std::uint64_t>(file.gcount()) != size) {
    segment.outcome = status(status_code::io_error, path + " cannot be read completely");
  } else {
    segment.chunks = cuts.find_cuts(segment.bytes);
  }
  segment.seconds = seconds_since(begin);
  return segment;
}

/// Collects the chunks of a file into batches.
class batch_builder {
 public:
  using emit_function = std::function<status(chunk_batch)>;

  batch_builder(const std::string& path, const emit_function& emit)
      : entry_(std::make_shared<store::pending_entry>(entry_of(path))), emit_(emit) {}

  status add(byte_span bytes) {
    batch_.bytes.insert(batch_.bytes.end(), bytes.begin(), bytes.end());
    batch_.chunks.push_back({.offset = offset_, .length = bytes.size()});
    offset_ += bytes.size();
    return batch_.bytes.size() < batch_bytes ? status() : flush();
  }
  status finish() {
    batch_.is_last = true;
    return flush();
  }

 private:
  status flush() {
    std::size_t offset = 0;
    for (delivered_chunk& each : batch_.chunks) {
      each.bytes = byte_span(batch_.bytes).subspan(offset, each.length);
      offset += each.length;
    }
    batch_.entry = entry_;
    return emit_(std::exchange(batch_, {}));
  }

  std::shared_ptr<store::pending_entry> entry_;
  const emit_function& emit_;
  chunk_batch batch_;
  std::uint64_t offset_ = 0;
};

}  // namespace

status staged_backup::timed(stage which, status (staged_backup::*work)(chunk_batch&), chunk_batch& batch) {
  const auto begin = clock::now();
  status outcome = (this->*work)(batch);
  seconds_[static_cast<std::size_t>(which)] += seconds_since(begin);
  return outcome;
}

status staged_backup::cut_files(const std::vector<std::string>& files, const emit_function& emit) {
  double& seconds = seconds_[static_cast<std::size_t>(stage::chunking)];
  for (const std::string& path : files) {
    auto file = file_source::open(path);
    if (!file) return file.error();
    chunk_batch batch;
    batch.entry = std::make_shared<store::pending_entry>(entry_of(path));
    auto begin = clock::now();
    const auto emit_batch = [&] {
      std::size_t offset = 0;
      for (delivered_chunk& each : batch.chunks) {
        each.bytes = byte_span(batch.bytes).subspan(offset, each.length);
        offset += each.length;
      }
      chunk_batch next;
      next.entry = batch.entry;
      seconds += seconds_since(begin);
      status emitted = emit(std::exchange(batch, std::move(next)));
      begin = clock::now();
      return emitted;
    };
    status cut = cut_stream(*file, cuts_, {}, [&](const chunk& where, byte_span bytes) -> status {
      if (batch.bytes.empty()) batch.bytes.reserve(batch_bytes + bytes.size());
      batch.bytes.insert(batch.bytes.end(), bytes.begin(), bytes.end());
      batch.chunks.push_back({.offset = where.offset, .length = where.length});
      return batch.bytes.size() < batch_bytes ? status() : emit_batch();
    });
    if (!cut.ok()) return cut;
    batch.is_last = true;
    CUTPOINT_RETURN_IF_FAILED(emit_batch());
  }
  return {};
}

status staged_backup::cut_segments(const std::string& path, const cutting_threads& threads, const emit_function& emit) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error) return status(status_code::io_error, path + ": " + error.message());
  const std::uint64_t count = (size + threads.segment_bytes - 1) / threads.segment_bytes;
  ordered_queue<cut_segment> segments;
  std::atomic<std::uint64_t> next = 0;
  std::vector<std::jthread> cutters;
  for (std::uint64_t i = 0; i < threads.count; ++i) {
    cutters.emplace_back([&] {
      for (std::uint64_t number = next++; number < count; number = next++) {
        const std::uint64_t offset = number * threads.segment_bytes;
        segments.put(number, read_and_cut(path, offset, std::min(threads.segment_bytes, size - offset), cuts_));
      }
    });
  }
  batch_builder batches(path, emit);
  std::vector<std::uint8_t> last;  // the last chunk before the segment, which is joined with the segment's first
  status outcome;
  for (std::uint64_t number = 0; number < count; ++number) {
    const cut_segment segment = segments.take();
    if (!outcome.ok()) continue;  // the others end
    seconds_[static_cast<std::size_t>(stage::chunking)] += segment.seconds;
    outcome = segment.outcome;
    std::uint64_t begin = 0;
    if (outcome.ok() && !last.empty()) {
      begin = segment.chunks.front().length;
      last.insert(last.end(), segment.bytes.begin(), segment.bytes.begin() + static_cast<std::ptrdiff_t>(begin));
      std::vector<chunk> joined = cuts_.find_cuts(last);
      if (begin == segment.bytes.size() && number + 1 < count) joined.pop_back();  // it is joined with the next segment
      std::uint64_t end = 0;
      for (const chunk& each : joined) {
        if (outcome.ok()) outcome = batches.add(byte_span(last).subspan(each.offset, each.length));
        end = each.offset + each.length;
      }
      last.erase(last.begin(), last.begin() + static_cast<std::ptrdiff_t>(end));
    }
    for (const chunk& each : segment.chunks) {
      if (!outcome.ok()) break;
      if (each.offset < begin) continue;
      const byte_span bytes = byte_span(segment.bytes).subspan(each.offset, each.length);
      if (each.offset + each.length == segment.bytes.size() && number + 1 < count) {
        last.assign(bytes.begin(), bytes.end());
      } else {
        outcome = batches.add(bytes);
      }
    }
  }
  return outcome.ok() ? batches.finish() : outcome;
}

status staged_backup::fingerprint(chunk_batch& batch) {
  for (delivered_chunk& each : batch.chunks) names_.submit(each.bytes, each.fingerprint);
  return names_.flush();
}

status staged_backup::index(chunk_batch& batch) {
  batch.work.resize(batch.chunks.size());
  return records_.select(batch.chunks, batch.work, selected_);
}

status staged_backup::write(chunk_batch& batch) {
  for (std::size_t i = 0; i < batch.chunks.size(); ++i) {
    delivered_chunk& each = batch.chunks[i];
    each.work = batch.work[i].get();
    if (each.work != nullptr) {
      CUTPOINT_RETURN_IF_FAILED(each.work->perform(each));
    }
    const auto extent = records_.store(each, selected_);
    if (!extent) return extent.error();
    CUTPOINT_RETURN_IF_FAILED(batch.entry->add(*extent, records_));
  }
  if (!batch.is_last) return {};
  CUTPOINT_RETURN_IF_FAILED(batch.entry->complete());
  tree_.add(batch.entry, batch.entry->entry.name);
  return tree_.write_complete();
}

result<store::record_reference> staged_backup::run_serially(const std::vector<std::string>& files) {
  status outcome = cut_files(files, [this](chunk_batch batch) {
    status done = timed(stage::fingerprinting, &staged_backup::fingerprint, batch);
    if (done.ok()) done = timed(stage::indexing, &staged_backup::index, batch);
    return done.ok() ? timed(stage::writing, &staged_backup::write, batch) : done;
  });
  return outcome.ok() ? tree_.finish() : outcome;
}

result<store::record_reference> staged_backup::run_in_pipeline(const std::vector<std::string>& files) {
  std::array<batch_queue, stages - 1> queues;
  std::array<status, stages> outcomes;
  // A stage that failed drops what comes, so that those before it end.
  const auto pass_on = [&](stage which, status (staged_backup::*work)(chunk_batch&)) {
    const auto number = static_cast<std::size_t>(which);
    batch_queue* const next = number + 1 < stages ? &queues[number] : nullptr;
    while (std::optional<chunk_batch> batch = queues[number - 1].take()) {
      if (outcomes[number].ok()) outcomes[number] = timed(which, work, *batch);
      if (next != nullptr && outcomes[number].ok()) next->put(std::move(batch));
    }
    if (next != nullptr) next->put(std::nullopt);
  };
  {
    const std::jthread fingerprinting(pass_on, stage::fingerprinting, &staged_backup::fingerprint);
    const std::jthread indexing(pass_on, stage::indexing, &staged_backup::index);
    const std::jthread writing(pass_on, stage::writing, &staged_backup::write);
    outcomes[0] = cut_files(files, [&](chunk_batch batch) {
      queues[0].put(std::move(batch));
      return status();
    });
    queues[0].put(std::nullopt);
  }
  for (const status& each : outcomes) {
    if (!each.ok()) return each;
  }
  return tree_.finish();
}

result<store::record_reference> staged_backup::run_with_threads(
    const std::vector<std::string>& files, const cutting_threads& threads,
    const std::vector<std::unique_ptr<batch_fingerprinter>>& names) {
  struct numbered_batch {
    std::uint64_t number = 0;
    std::optional<chunk_batch> batch;
  };
  std::mutex takes;  // so that batches are numbered in their order
  std::mutex sums;   // of the seconds of fingerprinting and of its outcome
  std::uint64_t next_number = 0;
  batch_queue cut_batches;
  ordered_queue<std::optional<chunk_batch>> named_batches;
  batch_queue selected_batches;
  std::array<status, stages> outcomes;
  const auto name_batches = [&](batch_fingerprinter& own) {
    for (;;) {
      numbered_batch one;
      {
        const std::lock_guard lock(takes);
        one.batch = cut_batches.take();
        one.number = next_number++;
      }
      const bool is_end = !one.batch;
      const auto begin = clock::now();
      status named;
      if (!is_end) {
        for (delivered_chunk& each : one.batch->chunks) own.submit(each.bytes, each.fingerprint);
        named = own.flush();
        const std::lock_guard lock(sums);
        seconds_[static_cast<std::size_t>(stage::fingerprinting)] += seconds_since(begin);
        if (!named.ok()) {
          outcomes[1] = named;
          one.batch->chunks.clear();  // they have no digests
        }
      }
      named_batches.put(one.number, std::move(one.batch));
      if (is_end) return;
    }
  };
  {
    std::vector<std::jthread> hashers;
    for (const auto& own : names) hashers.emplace_back(name_batches, std::ref(*own));
    const std::jthread indexing([&] {
      for (std::size_t ends = 0; ends < names.size();) {
        std::optional<chunk_batch> batch = named_batches.take();
        if (!batch) {
          ++ends;
        } else if (outcomes[2].ok()) {
          outcomes[2] = timed(stage::indexing, &staged_backup::index, *batch);
          if (outcomes[2].ok()) selected_batches.put(std::move(batch));
        }
      }
      selected_batches.put(std::nullopt);
    });
    const std::jthread writing([&] {
      while (std::optional<chunk_batch> batch = selected_batches.take()) {
        if (outcomes[3].ok()) outcomes[3] = timed(stage::writing, &staged_backup::write, *batch);
      }
    });
    for (const std::string& path : files) {
      if (!outcomes[0].ok()) break;
      outcomes[0] = cut_segments(path, threads, [&](chunk_batch batch) {
        cut_batches.put(std::move(batch));
        return status();
      });
    }
    for (std::size_t i = 0; i < names.size(); ++i) cut_batches.put(std::nullopt);
  }
  for (const status& each : outcomes) {
    if (!each.ok()) return each;
  }
  return tree_.finish();
}

}  // namespace cutpoint::bench
