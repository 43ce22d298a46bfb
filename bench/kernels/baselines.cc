// Registers what the papers compare with, at SeqCDC's 16 KB (section VI: from half of the average to twice of it), and the
// loops over instructions. Each is beside the loops of Cutpoint that it stands against.
#include "bench/kernels/baselines.h"

#include <functional>
#include <future>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "bench/kernels/measure.h"
#include "bench/kernels/suite.h"
#include "host/core/splitmix.h"

namespace cutpoint::bench {

namespace {

constexpr std::uint64_t avg_bytes = 16 * KiB;
constexpr std::uint64_t small_window = 6;  ///< SeqCDC's window, which appendix B gives Rabin too
constexpr std::size_t word_count = 1024;   ///< of 64 bits; they lie in the first-level cache
constexpr std::uint64_t turns = 1000;  ///< that a pass goes over the words, much longer than the clock takes to stop

using cutter = std::function<std::vector<chunk>(byte_span)>;

/// Registers methods of cutting by one algorithm, all of which must give the reference's cuts.
class cut_methods {
 public:
  cut_methods(const suite& all, std::string_view algorithm, chunker cuts)
      : all_(all), algorithm_(algorithm), cuts_(std::move(cuts)) {
    expected_ = std::async(std::launch::deferred, [bytes = all.bytes, reference = cuts_] {
                  return reference.find_cuts(bytes);
                }).share();
  }

  void add_reference(std::string_view method) const {
    add(method, [reference = cuts_](byte_span bytes) { return reference.find_cuts(bytes); });
  }

  void add(std::string_view method, cutter cut) const {
    bench::add(
        all_, name_of(method), [bytes = all_.bytes, cuts = cuts_, expected = expected_, cut](benchmark::State& state) {
          measure(
              state, bytes, [&] { return cut(bytes); }, expected.get(), "the cuts are not those of the reference");
          state.SetLabel(cuts.canonical());
        });
  }

  void add_ss_cdc() const {
    const auto by_vectors = ss_cdc::make(cuts_);
    if (!by_vectors) return add_skipped(name_of("ss-cdc"), by_vectors.error().message());
    add("ss-cdc", [by_vectors = *by_vectors](byte_span bytes) { return by_vectors.find_cuts(bytes); });
  }

 private:
  [[nodiscard]] std::string name_of(std::string_view method) const {
    return fmt::format("baseline/{}/{}", algorithm_, method);
  }

  const suite& all_;
  std::string_view algorithm_;
  chunker cuts_;
  std::shared_future<std::vector<chunk>> expected_;
};

template <class Parameters>
chunker sized(Parameters p) {
  p.avg_bytes = avg_bytes;
  p.min_bytes = avg_bytes / 2;
  p.max_bytes = 2 * avg_bytes;
  return *chunker::make(p);
}

}  // namespace

void add_baselines(const suite& all) {
  for (const auto& [algorithm, cuts] :
       {std::pair("gear", sized(gear_parameters{})), std::pair("crc32", sized(crc32_parameters{}))}) {
    const cut_methods methods(all, algorithm, cuts);
    methods.add_reference("reference");
    methods.add("two-stages", [cuts = cuts](byte_span bytes) { return find_cuts_in_two_stages(cuts, bytes); });
    methods.add_ss_cdc();
  }
  cut_methods(all, "rabin", sized(rabin_parameters{})).add_reference("rc");
  const chunker small = sized(rabin_parameters{.window_bytes = small_window});
  const cut_methods windows(all, "rabin", small);
  windows.add_reference("rc-sm");
  windows.add("rc-ind", [p = std::get<rabin_parameters>(small.parameters())](byte_span bytes) {
    return find_cuts_by_independent_windows(p, bytes);
  });
}

void add_intrinsics(const suite& all) {
  const auto words = std::make_shared<std::vector<std::uint64_t>>(word_count);
  splitmix64 random(0);
  for (std::uint64_t& word : *words) word = random.next();
  const byte_span bytes(reinterpret_cast<const std::uint8_t*>(words->data()), word_count * sizeof(std::uint64_t));
  for (const intrinsic which : {intrinsic::popcnt, intrinsic::tzcnt, intrinsic::pdep, intrinsic::nth_set_bit}) {
    for (const auto& [mode, steps] :
         {std::pair("throughput", chaining::independent), std::pair("latency", chaining::chained)}) {
      const std::string name = fmt::format("intrinsic/{}/{}", to_string(which), mode);
      if (!runs_intrinsics()) {
        add_skipped(name, "this processor lacks x86's BMI2, or this build is not for x86-64");
        continue;
      }
      add(all, name, [which, steps = steps, words, bytes](benchmark::State& state) {
        const auto sum_turns = [&] {
          std::uint64_t sum = 0;
          for (std::uint64_t turn = 0; turn < turns; ++turn) sum += by_intrinsic(which, steps, *words);
          return sum;
        };
        measure(state, bytes, sum_turns, turns * by_loops(which, steps, *words),
                "the sum is not that of plain loops over bits");
        state.counters.erase("bytes_per_second");  // the words stay in the cache
        state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(turns * word_count));
      });
    }
  }
}

}  // namespace cutpoint::bench
