// Kernels are timed where they run, by the spans of a batch: they include neither copies nor the work of a processor that
// other programs use too.
#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "pipeline/backends/fastest.h"
#include "pipeline/costs/calibration.h"

namespace cutpoint {

namespace {

/// Cuts all of the data, batch after batch, each from where the one before it ended. `last` becomes the output of the last one, and is
/// not complete if that had more chunks than the device has room for: then the data are not cut further.
status cut_in_batches(cuda::offload& offload, const chunker& cuts, byte_span data, std::uint64_t batch_bytes,
                      cuda::batch_output& last, device_pass& pass) {
  for (std::uint64_t start = 0; start < data.size();) {
    const std::uint64_t begin = start - std::min(start, cuts.behind());
    const std::uint64_t stop = start + std::min(batch_bytes, data.size() - start);
    const std::uint64_t end = stop + std::min(cuts.reach(), data.size() - stop);
    const byte_span batch = data.subspan(begin, end - begin);
    const cuda::stream_range all{.begin = 0,
                                 .start = start - begin,
                                 .stop = stop - begin,
                                 .end = batch.size(),
                                 .ends = end == data.size() ? 1U : 0U};
    CUTPOINT_RETURN_IF_FAILED(offload.run({.buffers = {&batch, 1}, .stream_ranges = {&all, 1}}, last));
    if (!last.is_complete || last.lengths.empty()) return {};
    for (const std::uint32_t length : last.lengths) {
      pass.chunks.push_back({start, length});
      start += length;
    }
    pass.copying_seconds += std::max(last.times.copying_in.seconds(), least_seconds);
    pass.cutting_seconds += std::max(last.times.cutting.seconds(), least_seconds);
  }
  return {};
}

/// The shortest times of a batch, in seconds.
struct batch_seconds {
  double whole = std::numeric_limits<double>::infinity();
  double cutting = whole;
  double fingerprinting = whole;
};

class probe {
 public:
  probe(const device_provider& provider, int device, const feed_options& job, const device_sampling& how,
        byte_span sample)
      : provider_(provider), device_(device), job_(job), how_(how), sample_(sample) {}

  status measure(device_costs& costs, double mean_chunk_bytes) const {
    CUTPOINT_TRY(const auto link, provider_.measure_link(device_));
    costs.link_in = link.in;
    costs.link_out = link.out_duplex;  // a feed copies in both directions at a time
    auto cutter = make_cutter();
    if (!cutter && cutter.error().code() != status_code::unavailable) return cutter.error();
    const status measured =
        cutter ? measure_cuts(**cutter, costs) : measure_fingerprints(costs, mean_chunk_bytes, cutter.error());
    costs.latency_seconds = std::max(costs.latency_seconds, link.launch_seconds);
    return measured;
  }

 private:
  [[nodiscard]] result<std::unique_ptr<cuda::offload>> make_cutter() const {
    if (job_.cuts.reach() == unlimited) {
      return status(status_code::unavailable, "devices do not cut chunks without a maximum size");
    }
    return provider_.make(device_, job_.cuts, job_.fingerprint, {.bytes = how_.batch_bytes});
  }

  status measure_cuts(cuda::offload& offload, device_costs& costs) const {
    cuda::batch_output output;
    const auto run = [&](std::uint64_t bytes) {
      device_pass pass;
      return cut_in_batches(offload, job_.cuts, sample_.first(bytes), bytes, output, pass);
    };
    CUTPOINT_TRY(const auto small, least_seconds_of([&] { return run(how_.small_bytes); }, output.times));
    CUTPOINT_TRY(const auto seconds, least_seconds_of([&] { return run(how_.batch_bytes); }, output.times));
    set_latency(costs, small.whole);
    if (output.lengths.empty()) return {};  // more chunks than the device has room for
    const auto bytes = static_cast<double>(how_.batch_bytes);
    const std::string canonical = job_.cuts.canonical();
    costs.rates.cuts = {{.name = canonical.substr(0, canonical.find('(')),
                         .cuts = canonical,
                         .mean_bytes = bytes / static_cast<double>(output.lengths.size()),
                         .bytes_per_second = bytes / seconds.cutting,
                         .where = backend::cuda}};
    if (offload.digest_bytes() != 0)
      add_fingerprints(costs, how_.batch_bytes, output.lengths.size(), seconds.fingerprinting);
    return {};
  }

  /// `why` the device cannot cut is its problem if it cannot fingerprint either.
  status measure_fingerprints(device_costs& costs, double mean_chunk_bytes, const status& why) const {
    const auto length = std::min(static_cast<std::uint64_t>(std::max(1.0, mean_chunk_bytes)), how_.batch_bytes);
    const cuda::batch_limits limits = {.bytes = how_.batch_bytes, .chunks = how_.batch_bytes / length};
    auto hasher = provider_.make(device_, job_.cuts, job_.fingerprint, limits, cuda::offload_use::fingerprint);
    if (!hasher || (*hasher)->digest_bytes() == 0) return why;
    std::vector<std::uint64_t> begins(limits.chunks);
    for (std::size_t i = 0; i < begins.size(); ++i) begins[i] = i * length;
    const std::vector<std::uint32_t> lengths(begins.size(), static_cast<std::uint32_t>(length));
    cuda::chunk_output output;
    const auto run = [&](std::size_t count) {
      const byte_span batch = sample_.first(length * count);
      return (*hasher)->fingerprint({.buffers = {&batch, 1},
                                     .begins = std::span(begins).first(count),
                                     .lengths = std::span(lengths).first(count)},
                                    output);
    };
    const std::size_t few = std::clamp<std::size_t>(how_.small_bytes / length, 1, begins.size());
    CUTPOINT_TRY(const auto small, least_seconds_of([&] { return run(few); }, output.times));
    CUTPOINT_TRY(const auto seconds, least_seconds_of([&] { return run(begins.size()); }, output.times));
    set_latency(costs, small.whole);
    add_fingerprints(costs, begins.size() * length, begins.size(), seconds.fingerprinting);
    return {};
  }

  template <class Run>
  [[nodiscard]] result<batch_seconds> least_seconds_of(Run&& run, const cuda::batch_times& times) const {
    batch_seconds least;
    for (int turn = 0; turn <= how_.turns; ++turn) {
      const auto begin = std::chrono::steady_clock::now();
      CUTPOINT_RETURN_IF_FAILED(run());
      const double whole = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (turn == 0) continue;
      least.whole = std::min(least.whole, whole);
      least.cutting = std::min(least.cutting, std::max(times.cutting.seconds(), least_seconds));
      least.fingerprinting = std::min(least.fingerprinting, std::max(times.fingerprinting.seconds(), least_seconds));
    }
    return least;
  }

  /// What a small batch takes beyond the way of its bytes.
  void set_latency(device_costs& costs, double seconds) const {
    costs.latency_seconds = std::max(0.0, seconds - static_cast<double>(how_.small_bytes) / costs.link_in);
  }

  void add_fingerprints(device_costs& costs, std::uint64_t bytes, std::uint64_t chunk_count, double seconds) const {
    costs.rates.fingerprints = {{.kind = job_.fingerprint.kind,
                                 .chunk_bytes = bytes / chunk_count,
                                 .in_flight = chunk_count,
                                 .bytes_per_second = static_cast<double>(bytes) / seconds,
                                 .where = backend::cuda}};
  }

  const device_provider& provider_;
  int device_;
  const feed_options& job_;
  const device_sampling& how_;
  byte_span sample_;
};

/// Locked memory of the host, for copies without a detour. If there is none, they are only slower.
class pinned_bytes {
 public:
  /// Locks the memory once and `turns` times more, of which the shortest counts, after one that takes longer.
  pinned_bytes(const device_provider& provider, int device, byte_span bytes, int turns) : bytes_(bytes) {
    auto offload =
        provider.make(device, *chunker::make(fixed_parameters{}), fingerprint_kind::none, {.bytes = 64 * KiB});
    if (!offload) return;
    double least = std::numeric_limits<double>::infinity();
    for (int turn = 0;; ++turn) {
      const auto begin = std::chrono::steady_clock::now();
      if (!(*offload)->pin(bytes_.data(), bytes_.size()).ok()) return;
      if (turn == turns) break;
      (*offload)->unpin(bytes_.data());
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (turn > 0) least = std::min(least, std::max(seconds, least_seconds));
    }
    rate_ = static_cast<double>(bytes_.size()) / least;
    offload_ = *std::move(offload);
  }
  pinned_bytes(const pinned_bytes&) = delete;
  pinned_bytes& operator=(const pinned_bytes&) = delete;
  ~pinned_bytes() {
    if (offload_) offload_->unpin(bytes_.data());
  }
  /// Bytes that are locked and unlocked in a second; 0 if they cannot be.
  [[nodiscard]] double rate() const { return rate_; }

 private:
  byte_span bytes_;
  double rate_ = 0;
  std::unique_ptr<cuda::offload> offload_;
};

}  // namespace

device_costs calibrate_device(const device_provider& provider, const gpu_info& gpu, const feed_options& job,
                              double mean_chunk_bytes, const device_sampling& how) {
  device_costs costs{.index = gpu.index, .name = gpu.name, .batch_bytes = how.batch_bytes, .rates = {}, .problem = {}};
  const std::vector<std::uint8_t> sample = random_bytes(how.batch_bytes);
  const pinned_bytes pinned(provider, gpu.index, sample, how.turns + 1);
  costs.pinning = pinned.rate();
  const status outcome = probe(provider, gpu.index, job, how, sample).measure(costs, mean_chunk_bytes);
  if (!outcome.ok()) costs = {.index = gpu.index, .name = gpu.name, .rates = {}, .problem = outcome.message()};
  return costs;
}

result<device_cutting> cutting_on(const device_provider& provider, int device, const chunker& cuts, byte_span data,
                                  std::uint64_t batch_bytes) {
  batch_bytes = std::min<std::uint64_t>(batch_bytes, data.size());
  CUTPOINT_TRY(const auto limits, device_limits({.batch_bytes = batch_bytes}, cuts));
  CUTPOINT_TRY(auto offload, provider.make(device, cuts, fingerprint_kind::none, limits));
  return device_cutting([=, pinned = std::make_shared<const pinned_bytes>(provider, device, data, 0),
                         kernels = std::shared_ptr(std::move(offload))]() -> result<device_pass> {
    device_pass pass;
    cuda::batch_output last;
    CUTPOINT_RETURN_IF_FAILED(cut_in_batches(*kernels, cuts, data, batch_bytes, last, pass));
    if (last.is_complete) return pass;
    return status(status_code::memory_limit, "a batch has more chunks than the device has room for");
  });
}

result<device_cutting> device_cutting_work(const chunker& cuts, byte_span data, int device) {
  const std::uint64_t batch_bytes = std::max(device_sampling().batch_bytes, usual_segment_bytes(cuts));
  return cutting_on(device_provider(), device, cuts, data, batch_bytes);
}

}  // namespace cutpoint
