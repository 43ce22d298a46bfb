// A batch takes its latency, its way in, its kernels and its way out, one after the other. Chunks of `fixed` without
// fingerprints have next to no kernels: two sizes of such batches give the link in and the latency; many short chunks
// the link out; and what other work takes beyond such a batch is its kernels'.
#include "pipeline/device_calibration.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include <cutpoint/catalog.h>

#include "pipeline/timed_turns.h"

namespace cutpoint {

namespace {

/// Kernels that take less than this share of a batch's time are lost among the rest of it, and taken for as much.
constexpr double least_kernel_share = 0.02;
constexpr std::uint64_t plain_chunk = 64 * KiB;
/// So short that four bytes for each chunk's length are much to copy out, and not too short for a device.
constexpr std::uint64_t short_chunk = 128;
constexpr double length_bytes = 4;

struct timed_batch {
  double seconds = 0;
  double mean_bytes = 0;
  bool is_complete = false;
};

class probe {
 public:
  probe(const device_provider& from, int device, const device_sampling& how, byte_span sample)
      : from_(from), device_(device), how_(how), sample_(sample) {}

  /// Work for batches of the sample. Nothing, and no problem, where the device does not do it.
  [[nodiscard]] std::unique_ptr<cuda::offload> work(const chunker& cuts, const fingerprint_recipe& recipe,
                                                    status& problem) const {
    auto made = from_.make(device_, cuts, recipe, {.bytes = how_.batch_bytes});
    if (made) return *std::move(made);
    if (made.error().code() != status_code::unavailable) problem = made.error();
    return nullptr;
  }

  /// The best turn, after one that does not count, with the first bytes of the sample as one stream.
  [[nodiscard]] result<timed_batch> time(cuda::offload& on, std::uint64_t bytes) const {
    const byte_span part = sample_.first(bytes);
    const cuda::piece all{.begin = 0, .start = 0, .stop = bytes, .end = bytes, .ends = 1};
    timed_batch best{.seconds = std::numeric_limits<double>::infinity()};
    for (int turn = 0; turn <= how_.turns; ++turn) {
      cuda::batch_output found;
      const auto begin = std::chrono::steady_clock::now();
      if (status ran = on.run({.parts = {&part, 1}, .pieces = {&all, 1}}, found); !ran.ok()) return ran;
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (!found.is_complete) return timed_batch{};
      best.is_complete = true;
      best.mean_bytes = static_cast<double>(bytes) / static_cast<double>(found.lengths.size());
      if (turn != 0) best.seconds = std::min(best.seconds, seconds);
    }
    return best;
  }

  status measure_link(device_costs& into) const {
    status problem;
    const auto on = work(fixed(plain_chunk), fingerprint_kind::none, problem);
    if (!on) return problem;
    const auto little = time(*on, how_.small_bytes);
    if (!little) return little.error();
    const auto much = time(*on, how_.batch_bytes);
    if (!much) return much.error();
    const double bytes = static_cast<double>(how_.batch_bytes);
    const double few_bytes = static_cast<double>(how_.small_bytes);
    const double in_seconds = std::max(much->seconds - little->seconds, least_kernel_share * much->seconds);
    into.link_in = (bytes - few_bytes) / in_seconds;
    into.latency_seconds = std::max(0.0, little->seconds - few_bytes / into.link_in);

    const auto busy = work(fixed(short_chunk), fingerprint_kind::none, problem);
    if (!busy) return problem;
    const auto out = time(*busy, how_.batch_bytes);
    if (!out) return out.error();
    const double out_bytes = length_bytes * bytes / static_cast<double>(short_chunk);
    into.link_out = std::min(into.link_in, out_bytes / std::max(out->seconds - much->seconds, 1e-9));
    return {};
  }

  status measure_cuts(device_costs& into) const {
    for (const catalog_entry& entry : catalog()) {
      status problem;
      const auto on = work(entry.defaults, fingerprint_kind::none, problem);
      if (!problem.ok()) return problem;
      if (!on) continue;
      const auto batch = time(*on, how_.batch_bytes);
      if (!batch) return batch.error();
      if (!batch->is_complete) continue;
      into.rates.cuts.push_back({.name = std::string(entry.name),
                                 .cuts = entry.defaults.canonical(),
                                 .mean_bytes = batch->mean_bytes,
                                 .bytes_per_second = kernel_rate(into, *batch, how_.batch_bytes, 0),
                                 .where = backend::cuda});
    }
    return {};
  }

  status measure_fingerprints(device_costs& into) const {
    for (const fingerprint_info& info : fingerprints()) {
      if (info.kind == fingerprint_kind::none) continue;
      for (const std::uint64_t length : how_.chunk_lengths) {
        status problem;
        const auto on = work(fixed(length), info.kind, problem);
        if (!problem.ok()) return problem;
        if (!on || on->digest_bytes() == 0) break;
        for (const std::uint64_t bytes : {how_.batch_bytes / how_.fewer, how_.batch_bytes}) {
          const auto batch = time(*on, bytes);
          if (!batch) return batch.error();
          if (!batch->is_complete || length > bytes) continue;
          into.rates.fingerprints.push_back({.kind = info.kind,
                                             .chunk_bytes = length,
                                             .in_flight = std::max<std::uint64_t>(1, bytes / length),
                                             .bytes_per_second = kernel_rate(into, *batch, bytes, info.digest_bytes),
                                             .where = backend::cuda});
        }
      }
    }
    return {};
  }

 private:
  static chunker fixed(std::uint64_t length) { return *chunker::make(fixed_parameters{.avg_bytes = length}); }

  /// Of what a batch takes beyond its latency and its ways in and out.
  static double kernel_rate(const device_costs& of, const timed_batch& batch, std::uint64_t bytes,
                            std::size_t digest_bytes) {
    const double in = static_cast<double>(bytes);
    const double out = in / batch.mean_bytes * (length_bytes + static_cast<double>(digest_bytes));
    const double kernels = batch.seconds - of.latency_seconds - in / of.link_in - out / of.link_out;
    return in / std::max(kernels, least_kernel_share * batch.seconds);
  }

  const device_provider& from_;
  int device_;
  const device_sampling& how_;
  byte_span sample_;
};

/// Locked memory of the host, for copies without a detour; where that cannot be had they are only slower.
class pinned_sample {
 public:
  pinned_sample(const device_provider& from, int device, std::uint64_t size) : bytes_(random_bytes(size)) {
    auto made = from.make(device, *chunker::make(fixed_parameters{}), fingerprint_kind::none, {.bytes = 64 * KiB});
    if (made && (*made)->pin(bytes_.data(), bytes_.size()).ok()) by_ = *std::move(made);
  }
  pinned_sample(const pinned_sample&) = delete;
  pinned_sample& operator=(const pinned_sample&) = delete;
  ~pinned_sample() {
    if (by_) by_->unpin(bytes_.data());
  }
  [[nodiscard]] byte_span view() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
  std::unique_ptr<cuda::offload> by_;
};

}  // namespace

device_costs calibrate_device(const device_provider& from, const gpu_info& of, const device_sampling& how) {
  device_costs made{.index = of.index, .name = of.name, .batch_bytes = how.batch_bytes, .rates = {}, .problem = {}};
  const pinned_sample sample(from, of.index, how.batch_bytes);
  const probe on(from, of.index, how, sample.view());
  status outcome = on.measure_link(made);
  if (outcome.ok() && made.link_in <= 0) outcome = {status_code::unavailable, "the device cuts nothing"};
  if (outcome.ok()) outcome = on.measure_cuts(made);
  if (outcome.ok()) outcome = on.measure_fingerprints(made);
  if (!outcome.ok()) made = {.index = of.index, .name = of.name, .rates = {}, .problem = outcome.message()};
  return made;
}

}  // namespace cutpoint
