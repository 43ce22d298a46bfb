#include "bench/store/stages.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
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
    if (status emitted = emit_batch(); !emitted.ok()) return emitted;
  }
  return {};
}

status staged_backup::fingerprint(chunk_batch& batch) {
  for (delivered_chunk& each : batch.chunks) names_.submit(each.bytes, each.fingerprint);
  return names_.flush();
}

status staged_backup::index(chunk_batch& batch) {
  batch.work.resize(batch.chunks.size());
  return session_.select(batch.chunks, batch.work, selected_);
}

status staged_backup::write(chunk_batch& batch) {
  for (std::size_t i = 0; i < batch.chunks.size(); ++i) {
    delivered_chunk& each = batch.chunks[i];
    each.work = batch.work[i].get();
    if (each.work != nullptr) {
      if (status performed = each.work->perform(each); !performed.ok()) return performed;
    }
    const auto extent = session_.store(each, selected_);
    if (!extent) return extent.error();
    if (status added = batch.entry->add(*extent, session_); !added.ok()) return added;
  }
  if (!batch.is_last) return {};
  if (status complete = batch.entry->complete(); !complete.ok()) return complete;
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

}  // namespace cutpoint::bench
