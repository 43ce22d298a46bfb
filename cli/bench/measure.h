// Measures a job of `bench` round by round: kernels on each back end, and the engine by the processor, by a GPU and by both.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/backends.h>
#include <cutpoint/bytes.h>
#include <cutpoint/catalog.h>
#include <cutpoint/chunker.h>
#include <cutpoint/engine.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/source.h>
#include <cutpoint/speed.h>
#include <cutpoint/status.h>
#include <cutpoint/timing.h>

#include "cli/bench/answer.h"
#include "cli/common/options.h"
#include "cli/inputs/trace_file.h"

namespace cutpoint::cli {

// --- Cells -----------------------------------------------------------------------------------------------------------

enum class bench_outcome {
  measured,
  no_kernel,     ///< the back end leaves the job to another: to `avx512`, `sse4` or `scalar`
  does_not_run,  ///< the processor lacks the instruction set
  unavailable,   ///< the device cannot be used or cannot do the job, or OpenSSL lacks an algorithm
  wrong_answer,  ///< the result differs from the reference's
  checked,       ///< the answer is right, and nobody asked how fast it comes
};

[[nodiscard]] inline std::string_view to_string(bench_outcome outcome) {
  constexpr std::array<std::string_view, 6> names = {"measured",    "no_kernel",    "does_not_run",
                                                     "unavailable", "wrong_answer", "checked"};
  return names[static_cast<std::size_t>(outcome)];
}

/// Rates are medians of the rounds, in bytes per second. They are nullopt unless measured.
struct bench_cell {
  std::string_view name;  ///< of the back end: "scalar", "processor", "cuda"
  bench_outcome outcome = bench_outcome::measured;
  std::optional<double> bytes_per_second = {};
  std::optional<double> lowest = {};   ///< the rate of the slowest round
  std::optional<double> highest = {};  ///< the rate of the fastest round
  std::optional<double> of_read = {};  ///< the median of the ratios to each round's plain read
  std::string_view leaves_to = {};     ///< the back end that does the job of one without a kernel
  // Of the engine.
  std::optional<double> of_link = {};    ///< ratio to the link to the device; nullopt if unknown or not used
  std::optional<double> of_device = {};  ///< ratio to the device's kernels; nullopt if unknown or not used
  std::optional<work_plan> plan = {};    ///< the plan that ran
  std::optional<double> device_cut_share = {};
  std::optional<double> predicted = {};  ///< the predicted rate of that plan
  std::optional<double> copied = {};     ///< the median rate of copies to a device whose kernels were measured
  std::string problem = {};
};

/// The rates of one cell, round by round.
struct round_rates {
  std::vector<double> rates;
  std::vector<double> ratios;

  void add(double rate, double read_rate) {
    rates.push_back(rate);
    ratios.push_back(rate / read_rate);
  }
  /// Sets the medians and the bounds of a cell that was measured.
  void finish(bench_cell& cell) const {
    if (cell.outcome != bench_outcome::measured || rates.empty()) return;
    cell.bytes_per_second = median(rates);
    cell.lowest = std::ranges::min(rates);
    cell.highest = std::ranges::max(rates);
    cell.of_read = median(ratios);
  }
};

// --- Kernels ---------------------------------------------------------------------------------------------------------

/// One back end at a job.
struct bench_contender {
  backend where = backend::scalar;
  bench_outcome outcome = bench_outcome::measured;
  timed_work work = {};      ///< empty unless it is to be measured
  std::string problem = {};  ///< what is wrong with its answer
  std::string_view leaves_to = {};
};

enum class bench_kind { read, cuts, fingerprint };
[[nodiscard]] std::string_view to_string(bench_kind kind);

/// A row of the table before it is measured.
struct bench_job {
  bench_kind kind = bench_kind::read;
  std::string name;  ///< an entry of the catalog, or a fingerprint
  std::string size;  ///< as given; "own" for an entry's own sizes
  std::optional<chunker> cuts = {};
  fingerprint_kind fingerprint = fingerprint_kind::none;
  backend chosen = backend::scalar;  ///< the choice of `automatic`
  std::vector<backend> timed = {};   ///< the answers of all others are only checked
  std::string problem = {};          ///< what OpenSSL lacks for it: it is not measured; else empty
};

/// Returns the name and the sizes.
[[nodiscard]] std::string label(const bench_job& job);

/// A job whose back ends gave the right answer.
struct checked_bench_job {
  std::vector<bench_contender> contenders;  ///< of every back end of this build
  std::optional<double> mean_bytes;
};

/// Checks the answers of all back ends. `data` must outlive the result. If it is cancelled, the result means nothing, as that of those
/// below. Errors: those of fingerprints.
[[nodiscard]] result<checked_bench_job> prepare(const bench_job& job, byte_span data, const cancellation& cancel);

/// Returns the contender that cuts `data` by `cuts`, whose chunks must be `expected`.
[[nodiscard]] bench_contender cutting_contender(backend where, const chunker& cuts, byte_span data,
                                                std::span<const chunk> expected, const cancellation& cancel);

/// Returns the contender that fingerprints chunks of `data` by `batch`, whose digests must be `expected`.
[[nodiscard]] bench_contender hashing_contender(backend where, std::shared_ptr<batch_fingerprinter> batch,
                                                byte_span data, std::shared_ptr<const std::vector<chunk>> chunks,
                                                std::span<const digest> expected, const cancellation& cancel);

// --- Rounds ----------------------------------------------------------------------------------------------------------

/// The place of the data: memory beyond all caches, the L2 cache, or a device's memory.
enum class bench_place { memory, l2, device };
[[nodiscard]] std::string_view to_string(bench_place place);

struct bench_row {
  const bench_job* job = nullptr;
  bench_place place = bench_place::memory;
  std::optional<double> mean_bytes;  ///< of the chunks
  double read_bytes_per_second = 0;  ///< the median of the rounds' plain reads
  std::vector<bench_cell> cells;     ///< of every back end of this build, or of the device alone
};

/// Checks the answers, then measures. Errors: those of `prepare`; cancelled.
[[nodiscard]] result<bench_row> measure(const bench_job& job, bench_place place, byte_span data, std::uint64_t rounds,
                                        const cancellation& cancel);

/// Measures a device's kernels at cuts of `data`, by the device's own clock, or takes over why they cannot run. The cuts of each
/// round are compared with the reference's. Errors: cancelled.
[[nodiscard]] result<bench_row> measure_device(const bench_job& job, const result<device_cutting>& cutting,
                                               byte_span data, std::uint64_t rounds, const cancellation& cancel);

// --- The engine ------------------------------------------------------------------------------------------------------

/// A row of the table before it is measured.
struct engine_job {
  std::string name;  ///< an entry of the catalog
  std::string size;  ///< as given; "own" for an entry's own sizes
  std::string hash;
  /// Cuts, fingerprint, and the expected rates of lanes, if known.
  feed_options feed;
  std::string problem = {};  ///< as that of a `bench_job`
};

/// Returns the name, the sizes and the fingerprint.
[[nodiscard]] std::string label(const engine_job& job);

/// A setup of the table: the back end that the engine uses.
struct engine_setup {
  std::string_view name;               ///< "processor", "cuda", "hybrid"
  backend where = backend::automatic;  ///< the option of the feed; `automatic` uses the processor only
  std::string problem = {};            ///< why it cannot be used here; empty if it can
};

/// Returns whether the back end is a GPU, or the processor with one.
[[nodiscard]] bool uses_device(backend where);

/// Returns the processor, and the devices and both together if `has_devices`.
[[nodiscard]] std::vector<engine_setup> engine_setups(bool has_devices);

struct engine_row {
  const engine_job* job = nullptr;
  double mean_bytes = 0;             ///< of the chunks
  double read_bytes_per_second = 0;  ///< the median of the rounds' plain reads, by as many threads
  std::vector<bench_cell> cells;     ///< of all setups

  /// Returns the rate of both over that of the faster one alone; nullopt unless all three were measured.
  [[nodiscard]] std::optional<double> gain_of_both() const;
};

/// Measures jobs on the threads of one engine.
class engine_bench {
 public:
  /// If `trace` is not null, it gets the first run of each setup at each job, which is not timed.
  engine_bench(engine& threads, std::vector<engine_setup> setups, trace_file* trace)
      : threads_(threads), setups_(std::move(setups)), trace_(trace) {}

  /// Measures all setups at a job. Every run is checked against the sequential reference. Errors: those of fingerprints;
  /// cancelled.
  [[nodiscard]] result<engine_row> measure(const engine_job& job, byte_span data, std::uint64_t rounds,
                                           const cancellation& cancel) const;

 private:
  struct run_outcome;
  [[nodiscard]] result<run_outcome> run(const engine_job& job, const engine_setup& setup, byte_span data,
                                        const bench_answer& expected, const cancellation& cancel,
                                        trace_receiver* trace) const;
  [[nodiscard]] result<bench_cell> check(const engine_job& job, const engine_setup& setup, byte_span data,
                                         const bench_answer& expected, const cancellation& cancel) const;
  [[nodiscard]] double read_rate(byte_span data) const;

  engine& threads_;
  std::vector<engine_setup> setups_;
  trace_file* trace_;
};

// The options that choose what `bench` measures: names, sizes and fingerprints.

class bench_job_options {
 public:
  void add_to(option_list& options);

  /// Returns whether options say what is measured.
  [[nodiscard]] bool is_given() const { return has_names() || !fingerprints_.empty() || !sizes_.empty(); }

  /// Chooses sizes of algorithms, unless sizes are given, so that chunks of random bytes have a mean of about 8 KiB. If nothing is
  /// named, profiles, which have sizes of their own, are only checked.
  void use_equal_means() { has_equal_means_ = true; }

  /// Returns the jobs for kernels: the plain read and what is named, or everything by default. Also finds the choice of
  /// `automatic` for each. `timed` has the back ends that are timed, and `automatic` is that choice. Errors: a wrong name or size; for
  /// what is named, that OpenSSL lacks something for it.
  [[nodiscard]] result<std::vector<bench_job>> kernel_jobs(const std::vector<backend>& timed) const;

  /// Returns the jobs for the engine: each name with each fingerprint, or a few of both by default. Errors: as above.
  [[nodiscard]] result<std::vector<engine_job>> engine_jobs() const;

 private:
  /// An entry of the catalog at some sizes.
  struct sized_cuts {
    std::string name;
    std::string size;  ///< as given; "own" for the entry's own sizes
    chunker cuts;
    bool is_timed = true;
  };
  using cuts_or_why = result<std::vector<sized_cuts>>;

  [[nodiscard]] bool has_names() const { return !algorithms_.empty() || !profiles_.empty(); }
  [[nodiscard]] std::vector<std::string> sizes() const;
  [[nodiscard]] result<sized_cuts> cuts_near_8k(const std::string& name) const;
  [[nodiscard]] cuts_or_why named_cuts() const;
  [[nodiscard]] cuts_or_why all_cuts() const;
  [[nodiscard]] cuts_or_why cuts_of(const std::vector<std::string>& algorithms) const;
  [[nodiscard]] status add_sized(std::vector<sized_cuts>& all, const std::string& name) const;
  [[nodiscard]] result<std::vector<bench_job>> fingerprint_jobs(const std::vector<backend>& timed) const;

  std::vector<std::string> algorithms_;
  std::vector<std::string> profiles_;
  std::vector<std::string> fingerprints_;
  std::vector<std::string> sizes_;
  bool has_equal_means_ = false;
};

/// The results of a run.
struct bench_facts {
  std::string processor_model;
  std::vector<std::string> files;  ///< empty if the data are random bytes
  std::uint64_t data_bytes = 0;
  std::uint64_t l2_bytes = 0;  ///< the part of the data that was measured in the L2 cache
  std::uint64_t rounds = 0;
  bool is_interrupted = false;
  bool is_quick = false;       ///< rows at equal means
  bool is_sorted = false;      ///< one back end of each row is timed, and rows are sorted by speed
  std::size_t name_width = 0;  ///< of the longest name of a job
  bool has_kernels = true;
  int device = 0;                ///< the GPU whose kernels are measured instead of the processor's
  std::string device_name = {};  ///< empty if no GPU's are
  std::vector<bench_row> rows;
  bool has_engine = true;
  engine_options threads;  ///< of the engine
  std::vector<engine_setup> setups;
  std::vector<engine_row> engine_rows;
};

}  // namespace cutpoint::cli
