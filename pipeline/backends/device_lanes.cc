#include "pipeline/backends/device_lanes.h"

#include <mutex>
#include <new>

#include <cutpoint/text.h>
#include <fmt/format.h>
#include <unistd.h>

namespace cutpoint {

namespace {

/// What lanes have locked. The system locks pages for the whole process, and a device does not tell who has locked them,
/// so all engines share it.
struct locked_memory {
  std::mutex mutex;
  std::vector<byte_span> ranges;

  /// Whether a page of `memory` is locked.
  [[nodiscard]] bool touches(byte_span memory) const {
    static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto page_of = [](const std::uint8_t* byte) { return reinterpret_cast<std::uintptr_t>(byte) / page; };
    return std::any_of(ranges.begin(), ranges.end(), [&](byte_span each) {
      return page_of(&each.front()) <= page_of(&memory.back()) && page_of(&memory.front()) <= page_of(&each.back());
    });
  }
};

locked_memory& locked_by_lanes() {
  static locked_memory& all = *new locked_memory;  // for engines that are destroyed after static objects, too
  return all;
}

}  // namespace

status device_provider::check(int device) const { return cuda::check_device(device); }

result<std::unique_ptr<cuda::offload>> device_provider::make(int device, const chunker& cuts,
                                                             const fingerprint_recipe& fingerprint,
                                                             const cuda::batch_limits& limits,
                                                             cuda::offload_use use) const {
  return cuda::make_offload(device, cuts, fingerprint, limits, use);
}

result<cuda::link_rates> device_provider::measure_link(int device) const { return cuda::measure_link(device); }

result<device_lanes> device_lanes::open(const device_provider& provider, int device, const feed_options& options,
                                        const device_configuration& configuration) {
  device_lanes lanes;
  lanes.device_ = device;
  const auto none = [&lanes](std::string why) {
    lanes.offloads_.clear();
    lanes.warning_ = std::move(why) + "; the processor does the work";
    return std::move(lanes);
  };
  const bool cuts = configuration.work == work_kind::cuts;
  const cuda::offload_use use = cuts ? cuda::offload_use::cut : cuda::offload_use::fingerprint;
  const auto limits =
      cuts ? device_limits(configuration, options.cuts) : result<cuda::batch_limits>(fingerprint_limits(configuration));
  if (!limits) return none(limits.error().message());
  lanes.limits_ = *limits;
  lanes.longest_fingerprinted_ = longest_fingerprinted_on_device(options.fingerprint.kind);
  const bool is_left = cuts && options.cuts.reach() > lanes.longest_fingerprinted_;
  const fingerprint_recipe fingerprint = is_left ? fingerprint_recipe(fingerprint_kind::none) : options.fingerprint;
  while (lanes.offloads_.size() < configuration.lane_count) {
    auto next = provider.make(device, options.cuts, fingerprint, *limits, use);
    if (!next) {
      const status_code why = next.error().code();
      // Rates may be of a GPU that is gone: then nobody has asked for it.
      const bool is_gone = why == status_code::unavailable && options.where == backend::automatic;
      const bool leaves_work = is_gone || why == status_code::memory_limit || why == status_code::backend_failure;
      return leaves_work ? result<device_lanes>(none(next.error().message())) : next.error();
    }
    const std::uint64_t needed = configuration.lane_count * (*next)->memory_bytes();
    if (needed > options.device_memory_bytes) {
      return none(fmt::format("batches of {} bytes need {} of the device's memory, more than the {} allowed",
                              limits->bytes, format_size(needed), format_size(options.device_memory_bytes)));
    }
    lanes.offloads_.push_back(*std::move(next));
  }
  return lanes;
}

bool device_lanes::is_pinned(byte_span memory) const {
  locked_memory& locked = locked_by_lanes();
  const std::lock_guard lock(locked.mutex);
  return !locked.touches(memory) && offloads_.front()->is_pinned(memory.data(), memory.size());
}

bool device_lanes::pin(byte_span memory) {
  locked_memory& locked = locked_by_lanes();
  const std::lock_guard lock(locked.mutex);
  if (locked.touches(memory)) return false;
  locked.ranges.reserve(locked.ranges.size() + 1);  // it may throw, which must not leave memory locked
  if (!offloads_.front()->pin(memory.data(), memory.size()).ok()) return false;
  locked.ranges.push_back(memory);
  return true;
}

void device_lanes::unpin(byte_span memory) {
  locked_memory& locked = locked_by_lanes();
  const std::lock_guard lock(locked.mutex);
  offloads_.front()->unpin(memory.data());
  std::erase_if(locked.ranges, [&](byte_span each) { return each.data() == memory.data(); });
}

status device_lanes::perform(task& task, const task_context& context, lane& worker, std::size_t device_lane) {
  status failure;
  try {
    if (map_task* map = std::get_if<map_task>(&task.work)) {
      const auto mapped = map_on_device(*map, context, limits_, *offloads_[device_lane], worker);
      if (mapped && *mapped) return {};
      if (!mapped) failure = mapped.error();
    } else if (auto* chunks = std::get_if<fingerprint_task>(&task.work)) {
      const auto is_done =
          fingerprint_on_device(*chunks, context, limits_, longest_fingerprinted_, *offloads_[device_lane], worker);
      if (is_done && *is_done) return {};
      if (!is_done) failure = is_done.error();
    }
  } catch (const std::bad_alloc&) {  // the processor needs less
  }
  cutpoint::perform(task, context, worker);
  return failure;
}

void device_lanes::record_failure(const status& failure) {
  if (warning_.empty()) warning_ = failure.message() + "; the processor does the rest of the work";
}

// Between positions of the sequence and those of a batch, which begins `behind` bytes before the segment's first chunk
// and ends where no cut of the segment depends on what comes.

namespace {

/// Maximum streams of a batch. The processor maps segments with more.
constexpr std::uint64_t max_stream_ranges = 65'536;
/// Chunks of a batch have 32-bit numbers and lengths.
constexpr std::uint64_t max_batch_bytes = 2 * GiB;

struct device_batch {
  std::uint64_t base = 0;  ///< position of its first byte
  std::uint64_t end = 0;
  std::vector<cuda::stream_range> stream_ranges;
};

/// The batch of a map, or nullopt if a device cannot do it.
std::optional<device_batch> batch_of(const map_task& work, const chunker& cuts, const cuda::batch_limits& limits) {
  const segment& target = *work.target;
  const std::uint64_t seen = target.end + std::min(cuts.reach(), limits.bytes);
  device_batch batch;
  for (const visible_range& s : work.visible_ranges) {
    if (s.end <= work.start) continue;
    if (s.begin >= target.end) break;
    if (s.how == range_end::failed || batch.stream_ranges.size() == limits.stream_ranges) return std::nullopt;
    const std::uint64_t start = std::max(s.begin, work.start);
    const std::uint64_t begin = std::max(s.begin, start - std::min(start, cuts.behind()));
    if (batch.stream_ranges.empty()) batch.base = begin;
    batch.end = std::min(s.end, seen);
    batch.stream_ranges.push_back({.begin = std::max(begin, batch.base) - batch.base,
                                   .start = start - batch.base,
                                   .stop = std::min(s.end, target.end) - batch.base,
                                   .end = batch.end - batch.base,
                                   .ends = s.how != range_end::open && batch.end == s.end ? 1u : 0u});
  }
  if (batch.end - batch.base > limits.bytes) return std::nullopt;
  return batch;
}

digest digest_at(std::span<const std::uint8_t> digests, std::size_t number, std::size_t size) {
  digest value;
  value.size = static_cast<std::uint8_t>(size);
  std::copy_n(digests.data() + number * size, size, value.bytes.data());
  return value;
}

/// Appends the chunks that a batch found to the chain.
void take_over(const device_batch& batch, const cuda::batch_output& output, std::size_t digest_bytes,
               chain& found_chain) {
  found_chain.chunks.reserve(output.lengths.size());
  for (std::size_t i = 0; i < batch.stream_ranges.size(); ++i) {
    std::uint64_t position = batch.base + batch.stream_ranges[i].start;
    const cuda::stream_range_chunks& mine = output.stream_ranges[i];
    for (std::uint64_t k = mine.first; k < mine.first + mine.count; ++k) {
      found_chain.chunks.push_back({position, output.lengths[k]});
      position += output.lengths[k];
    }
    found_chain.next = position;
  }
  if (digest_bytes == 0) return;
  for (std::size_t i = 0; i < found_chain.chunks.size(); ++i) {
    found_chain.fingerprints.push_back(digest_at(output.digests, i, digest_bytes));
  }
}

}  // namespace

result<cuda::batch_limits> device_limits(const device_configuration& configuration, const chunker& cuts) {
  if (cuts.reach() == unlimited) {
    return status{status_code::unavailable, "chunks without a maximum are cut on the processor"};
  }
  const std::uint64_t bytes = configuration.batch_bytes + cuts.reach() + cuts.behind();
  if (bytes > max_batch_bytes) {
    return status{status_code::unavailable,
                  fmt::format("chunks of up to {} bytes are cut on the processor: a batch for a device has at most {}",
                              cuts.reach(), max_batch_bytes)};
  }
  return cuda::batch_limits{.bytes = bytes, .stream_ranges = max_stream_ranges};
}

cuda::batch_limits fingerprint_limits(const device_configuration& configuration) {
  return {.bytes = std::min(configuration.batch_bytes, max_batch_bytes), .chunks = configuration.batch_chunks};
}

result<bool> map_on_device(map_task& work, const task_context& context, const cuda::batch_limits& limits,
                           cuda::offload& offload, lane& worker) {
  const auto batch = batch_of(work, (*context.cuts)[0], limits);
  if (!batch) return false;
  const auto buffers = context.ring->buffers(batch->base, batch->end);
  status outcome;
  cuda::batch_output output;
  chain own{.chunks = {}, .fingerprints = {}, .next = work.start};
  measure(worker.at(stage::chunking), [&] {
    outcome = offload.run({.buffers = buffers, .stream_ranges = batch->stream_ranges}, output);
    if (outcome.ok() && output.is_complete) take_over(*batch, output, offload.digest_bytes(), own);
    return own.next - work.start;
  });
  if (!outcome.ok()) return outcome;
  if (!output.is_complete) return false;
  note_phases(worker, output.times,
              {.copied_in = batch->end - batch->base,
               .cut = own.next - work.start,
               .fingerprinted = offload.digest_bytes() != 0 ? own.bytes() : 0,
               .copied_out = output.lengths.size_bytes() + output.digests.size_bytes()});
  if (offload.digest_bytes() != 0) worker.at(stage::fingerprinting).counted.bytes += own.bytes();
  worker.device_bytes += own.next - work.start;
  work.target->own = std::move(own);
  return true;
}

result<bool> fingerprint_on_device(fingerprint_task& work, const task_context& context,
                                   const cuda::batch_limits& limits, std::uint64_t longest, cuda::offload& offload,
                                   lane& worker) {
  std::vector<joined_chunk*> asked;
  for (const fingerprint_task::batch_range& each : work.ranges) {
    for (std::size_t i = each.which.first; i < each.which.last; ++i) {
      if (!each.batch->chunks[i].is_fingerprinted) asked.push_back(&each.batch->chunks[i]);
    }
  }
  if (offload.digest_bytes() == 0 || asked.empty()) return false;
  const std::uint64_t base = asked.front()->where.offset;
  const std::uint64_t end = asked.back()->where.offset + asked.back()->where.length;
  if (end - base > limits.bytes) return false;
  std::vector<std::uint64_t> begins;
  std::vector<std::uint32_t> lengths;
  for (const joined_chunk* c : asked) {
    if (c->where.length > longest) return false;
    begins.push_back(c->where.offset - base);
    lengths.push_back(static_cast<std::uint32_t>(c->where.length));
  }
  const auto buffers = context.ring->buffers(base, end);
  status outcome;
  cuda::chunk_output output;
  measure(worker.at(stage::fingerprinting), [&] {
    outcome = offload.fingerprint({.buffers = buffers, .begins = begins, .lengths = lengths}, output);
    if (!outcome.ok()) return std::uint64_t{0};
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      asked[i]->fingerprint = digest_at(output.digests, i, offload.digest_bytes());
      bytes += asked[i]->where.length;
    }
    return bytes;
  });
  if (!outcome.ok()) return outcome;
  const std::uint64_t hashed = worker.work[static_cast<std::size_t>(stage::fingerprinting)].bytes;
  note_phases(worker, output.times,
              {.copied_in = end - base, .fingerprinted = hashed, .copied_out = output.digests.size()});
  return true;
}

}  // namespace cutpoint
