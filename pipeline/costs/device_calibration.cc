// Kernels are timed where they run, by the spans of a batch: neither the copies beside them nor a processor that others
// have are in these.
#include "pipeline/costs/device_calibration.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "pipeline/backends/repeated_timing.h"

namespace cutpoint {

namespace {

constexpr std::uint64_t plain_chunk = 64 * KiB;

class probe {
 public:
  probe(const device_provider& provider, int device, const device_sampling& how, byte_span sample)
      : provider_(provider), device_(device), how_(how), sample_(sample) {}

  /// Copies out are those beside copies in, since that is when a feed has them.
  status measure_link(device_costs& costs) const {
    const auto link = provider_.measure_link(device_);
    if (!link) return link.error();
    costs.link_in = link->in;
    costs.link_out = link->out_beside_in;
    costs.latency_seconds = link->launch_seconds;
    return {};
  }

  /// What a batch of next to nothing takes beyond its bytes' way in: no less than a launch that is waited for.
  status measure_latency(device_costs& costs) const {
    auto offload = provider_.make(device_, fixed(plain_chunk), fingerprint_kind::none, {.bytes = how_.batch_bytes});
    if (!offload) return offload.error();
    const auto seconds = least_of_turns([&]() -> result<double> {
      cuda::batch_output found;
      const auto begin = std::chrono::steady_clock::now();
      if (status ran = cut(**offload, how_.small_bytes, found); !ran.ok()) return ran;
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    });
    if (!seconds) return seconds.error();
    costs.latency_seconds =
        std::max(costs.latency_seconds, *seconds - static_cast<double>(how_.small_bytes) / costs.link_in);
    return {};
  }

  status measure_cuts(device_costs& costs) const {
    for (const named_cuts& each : calibration_cuts()) {
      status problem;
      const auto offload =
          work(each.cuts, fingerprint_kind::none, {.bytes = how_.batch_bytes}, cuda::offload_use::cut, problem);
      if (!problem.ok()) return problem;
      if (!offload) continue;
      std::size_t chunk_count = 0;
      const auto seconds = least_of_turns([&]() -> result<double> {
        cuda::batch_output found;
        if (status ran = cut(*offload, how_.batch_bytes, found); !ran.ok()) return ran;
        chunk_count = found.lengths.size();
        return found.times.cutting.seconds();
      });
      if (!seconds) return seconds.error();
      if (chunk_count == 0) continue;  // more than the device has room for
      const auto bytes = static_cast<double>(how_.batch_bytes);
      costs.rates.cuts.push_back({.name = each.name,
                                  .cuts = each.cuts.canonical(),
                                  .mean_bytes = bytes / static_cast<double>(chunk_count),
                                  .bytes_per_second = bytes / *seconds,
                                  .where = backend::cuda});
    }
    return {};
  }

  status measure_fingerprints(device_costs& costs) const {
    const std::uint64_t shortest = *std::min_element(how_.chunk_lengths.begin(), how_.chunk_lengths.end());
    const cuda::batch_limits limits = {.bytes = how_.batch_bytes, .chunks = how_.batch_bytes / shortest};
    for (const fingerprint_info& info : fingerprints()) {
      if (info.kind == fingerprint_kind::none) continue;
      status problem;
      const auto offload = work(fixed(shortest), info.kind, limits, cuda::offload_use::fingerprint, problem);
      if (!problem.ok()) return problem;
      if (!offload || offload->digest_bytes() == 0) continue;
      for (const std::uint64_t length : how_.chunk_lengths) {
        for (const std::uint64_t bytes : {how_.batch_bytes / how_.fewer, how_.batch_bytes}) {
          if (const std::uint64_t count = bytes / length; count != 0) {
            const auto rate = fingerprint_rate_of(*offload, length, count);
            if (!rate) return rate.error();
            costs.rates.fingerprints.push_back({info.kind, length, count, *rate, backend::cuda});
          }
        }
      }
    }
    return {};
  }

 private:
  static chunker fixed(std::uint64_t length) { return *chunker::make(fixed_parameters{.avg_bytes = length}); }

  /// Work for batches. Nothing, and no problem, where the device does not do it.
  [[nodiscard]] std::unique_ptr<cuda::offload> work(const chunker& cuts, const fingerprint_recipe& recipe,
                                                    const cuda::batch_limits& limits, cuda::offload_use use,
                                                    status& problem) const {
    auto made = provider_.make(device_, cuts, recipe, limits, use);
    if (made) return *std::move(made);
    if (made.error().code() != status_code::unavailable) problem = made.error();
    return nullptr;
  }

  /// The least that a turn gives, in seconds.
  template <class Turn>
  [[nodiscard]] result<double> least_of_turns(Turn&& turn) const {
    double best = std::numeric_limits<double>::infinity();
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(how_.most_seconds);
    for (int number = 0; number <= how_.turns; ++number) {
      if (number > 1 && std::chrono::steady_clock::now() >= end) break;
      const auto seconds = turn();
      if (!seconds) return seconds.error();
      if (number > 0) best = std::min(best, *seconds);
    }
    return std::max(best, least_seconds);
  }

  /// The first bytes of the sample as one stream.
  status cut(cuda::offload& offload, std::uint64_t bytes, cuda::batch_output& found) const {
    const byte_span part = sample_.first(bytes);
    const cuda::stream_range all{.begin = 0, .start = 0, .stop = bytes, .end = bytes, .ends = 1};
    return offload.run({.parts = {&part, 1}, .stream_ranges = {&all, 1}}, found);
  }

  /// Of so many chunks of one length, one after the other.
  [[nodiscard]] result<double> fingerprint_rate_of(cuda::offload& offload, std::uint64_t length,
                                                   std::uint64_t count) const {
    const byte_span part = sample_.first(length * count);
    std::vector<std::uint64_t> begins(count);
    for (std::uint64_t i = 0; i < count; ++i) begins[i] = i * length;
    const std::vector<std::uint32_t> lengths(count, static_cast<std::uint32_t>(length));
    const auto seconds = least_of_turns([&]() -> result<double> {
      cuda::chunk_output found;
      if (status ran = offload.fingerprint({.parts = {&part, 1}, .begins = begins, .lengths = lengths}, found);
          !ran.ok()) {
        return ran;
      }
      return found.times.fingerprinting.seconds();
    });
    if (!seconds) return seconds.error();
    return static_cast<double>(part.size()) / *seconds;
  }

  const device_provider& provider_;
  int device_;
  const device_sampling& how_;
  byte_span sample_;
};

/// Locked memory of the host, for copies without a detour; where that cannot be had they are only slower.
class pinned_sample {
 public:
  pinned_sample(const device_provider& provider, int device, std::uint64_t size) : bytes_(random_bytes(size)) {
    auto made = provider.make(device, *chunker::make(fixed_parameters{}), fingerprint_kind::none, {.bytes = 64 * KiB});
    if (made && (*made)->pin(bytes_.data(), bytes_.size()).ok()) offload_ = *std::move(made);
  }
  pinned_sample(const pinned_sample&) = delete;
  pinned_sample& operator=(const pinned_sample&) = delete;
  ~pinned_sample() {
    if (offload_) offload_->unpin(bytes_.data());
  }
  [[nodiscard]] byte_span view() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
  std::unique_ptr<cuda::offload> offload_;
};

}  // namespace

device_costs calibrate_device(const device_provider& provider, const gpu_info& gpu, const device_sampling& how) {
  device_costs made{.index = gpu.index, .name = gpu.name, .batch_bytes = how.batch_bytes, .rates = {}, .problem = {}};
  const pinned_sample sample(provider, gpu.index, how.batch_bytes);
  const probe device_probe(provider, gpu.index, how, sample.view());
  status outcome = device_probe.measure_link(made);
  if (outcome.ok()) outcome = device_probe.measure_latency(made);
  if (outcome.ok()) outcome = device_probe.measure_cuts(made);
  if (outcome.ok()) outcome = device_probe.measure_fingerprints(made);
  if (!outcome.ok()) made = {.index = gpu.index, .name = gpu.name, .rates = {}, .problem = outcome.message()};
  return made;
}

}  // namespace cutpoint
