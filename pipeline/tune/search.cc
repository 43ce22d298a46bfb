// The tuner's search. It counts what all candidates save, on all threads, and then measures the best, on one thread.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include <cutpoint/text.h>
#include <cutpoint/tune/search.h>
#include <fmt/format.h>

#include "host/core/parallel.h"
#include "pipeline/tune/choice.h"
#include "pipeline/tune/count.h"

namespace cutpoint {

namespace {

/// Sizes are adjusted until the mean on the sample differs by this share from the wanted mean, at most.
constexpr double near_share = 0.05;
/// How many sizes are tried, at most.
constexpr int most_tries = 5;
/// The largest factor between the adjusted sizes and those that suit random bytes.
constexpr double most_change = 8;

/// A profile, an algorithm with a wanted mean, or SeqCDC with a wanted mean and one set of values.
struct tune_task {
  std::string name;
  std::uint64_t target = 0;  ///< the wanted mean; 0 for a profile
  std::optional<seqcdc_values> values = {};
};

/// The result of a task.
struct counted {
  tune_candidate candidate;
  sample_counts counts;

  [[nodiscard]] double distance() const {
    if (candidate.target_bytes == 0) return 0;
    return std::abs(std::log(std::max(counts.mean_bytes, 1.0) / static_cast<double>(candidate.target_bytes)));
  }
};

class searcher {
 public:
  searcher(const tune_search_space& plan, const content_sample& sample, const progress_sink& progress,
           const cancellation& cancel, tune_facts& facts)
      : plan_(plan), sample_(sample), streams_(sample.streams()), progress_(progress), cancel_(cancel), facts_(facts) {}

  status run() {
    if (status listed = list_tasks(); !listed.ok()) return listed;
    done_.resize(tasks_.size());
    run_parallel(plan_.monte_carlo.threads, tasks_.size(), [this](std::size_t, std::size_t i) {
      if (!cancel_.is_requested()) count(i);
    });
    tell({});
    if (!failure_.ok()) return failure_;
    add_rows();
    const status timed = time_rows();
    tell({});
    return cancel_.is_requested() ? stopped_as_asked() : timed;
  }

 private:
  void tell(std::string_view text) const {
    if (progress_) progress_(text);
  }

  status list_tasks() {
    for (const std::string& name : plan_.profiles) tasks_.push_back({.name = name});
    for (const std::uint64_t target : plan_.targets) {
      std::vector<seqcdc_values> grid;
      for (const std::string& name : plan_.algorithms) {
        if (!is_seqcdc(name)) {
          tasks_.push_back({.name = name, .target = target});
          continue;
        }
        if (grid.empty()) {  // one grid for both orders, which have equal means on random bytes
          tell(fmt::format("{}: bounds for {}", name, format_size(target)));
          const auto bounds = find_bounds(target, plan_.monte_carlo, cancel_);
          if (!bounds) return bounds.error();
          if (!*bounds) return {};
          facts_.bounds.push_back(**bounds);
          grid = grid_between(**bounds, plan_.most_combinations);
        }
        for (const seqcdc_values& values : grid) tasks_.push_back({.name = name, .target = target, .values = values});
      }
    }
    return {};
  }

  /// Performs a task. Thread-safe.
  void count(std::size_t index) {
    auto made =
        tasks_[index].target != 0 && !tasks_[index].values ? count_near(tasks_[index]) : count_once(tasks_[index]);
    const std::lock_guard lock(mutex_);
    if (made) {
      done_[index] = *std::move(made);
    } else if (failure_.ok()) {
      failure_ = made.error();
    }
    tell(fmt::format("{} of {}: {}", ++done_count_, tasks_.size(), tasks_[index].name));
  }

  result<counted> count_candidate(result<tune_candidate> candidate) const {
    if (!candidate) return candidate.error();
    auto counts = count_on(sample_, streams_, candidate->cuts);
    if (!counts) return counts.error();
    return counted{*std::move(candidate), *counts};
  }

  result<counted> count_once(const tune_task& task) const {
    return count_candidate(task.values ? candidate_of(task.name, task.target, *task.values)
                                       : candidate_of_profile(task.name));
  }

  /// Adjusts the sizes in proportion to the mean on the sample, a few times, and returns the result with the nearest
  /// mean. It stops early when the algorithm refuses the adjusted sizes.
  result<counted> count_near(const tune_task& task) const {
    const auto target = static_cast<double>(task.target);
    auto best = count_candidate(candidate_at(task.name, task.target, task.target));
    if (!best) return best;
    double nominal = target;
    double mean = best->counts.mean_bytes;
    for (int i = 1; i < most_tries && best->distance() > near_share && mean > 0 && !cancel_.is_requested(); ++i) {
      nominal = std::clamp(nominal * target / mean, target / most_change, target * most_change);
      auto next = count_candidate(candidate_at(task.name, task.target, static_cast<std::uint64_t>(nominal)));
      if (!next) break;
      mean = next->counts.mean_bytes;
      if (next->distance() < best->distance()) best = std::move(next);
    }
    return best;
  }

  /// Adds a row for the best results of each name and mean.
  void add_rows() {
    std::vector<std::size_t> group;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (done_[i]) group.push_back(i);
      const bool is_last =
          i + 1 == tasks_.size() || tasks_[i + 1].name != tasks_[i].name || tasks_[i + 1].target != tasks_[i].target;
      if (!is_last) continue;
      for (const std::size_t best : best_of(group)) {
        facts_.rows.push_back({.candidate = done_[best]->candidate,
                               .counts = done_[best]->counts.total,
                               .mean_bytes = done_[best]->counts.mean_bytes,
                               .tried_count = group.size()});
      }
      group.clear();
    }
  }

  /// Returns the best results by the goal among those whose mean is close. If these are fewer than `best_count`, those
  /// with the closest means are considered too.
  std::vector<std::size_t> best_of(std::vector<std::size_t> group) const {
    std::stable_sort(group.begin(), group.end(),
                     [this](std::size_t a, std::size_t b) { return done_[a]->distance() < done_[b]->distance(); });
    const auto far = std::find_if(group.begin(), group.end(),
                                  [this](std::size_t i) { return done_[i]->distance() > std::log1p(close_share); });
    const auto wanted = static_cast<std::ptrdiff_t>(std::min(plan_.best_count, group.size()));
    group.erase(std::max(far, group.begin() + wanted), group.end());
    std::vector<tune_merit> merits;
    for (const std::size_t i : group) {
      const tune_row row{.candidate = done_[i]->candidate, .counts = done_[i]->counts.total};
      merits.push_back({row.net_savings(facts_.chunk_cost), done_[i]->counts.cut_bytes_per_second});
    }
    std::vector<std::size_t> best;
    for (const std::size_t place : ranked(merits, facts_.goal)) {
      if (best.size() < plan_.best_count) best.push_back(group[place]);
    }
    return best;
  }

  /// Measures the speeds of the rows. Rows that are not reached before cancelling have no speed: their cutting speed
  /// from counting was measured while other threads worked.
  status time_rows() {
    const aligned_bytes data = timing_data(sample_);
    if (data.view().empty()) return {};
    std::vector<timed_cuts> cuts;
    for (const tune_row& row : facts_.rows) {
      // The group is the octave of the mean chunk size.
      cuts.push_back({row.candidate.cuts, static_cast<std::uint64_t>(std::lround(std::log2(row.mean_bytes)))});
    }
    tell(fmt::format("speeds of {} settings", cuts.size()));
    const auto speeds = measure_speeds(cuts, facts_.fingerprint, data.view(), plan_.rounds, cancel_);
    if (!speeds) return speeds.error();
    for (std::size_t i = 0; i < speeds->size(); ++i) facts_.rows[i].speed = (*speeds)[i];
    return {};
  }

  const tune_search_space& plan_;
  const content_sample& sample_;
  std::vector<sampled_range> streams_;
  const progress_sink& progress_;
  const cancellation& cancel_;
  tune_facts& facts_;
  std::vector<tune_task> tasks_;
  std::vector<std::optional<counted>> done_;
  std::size_t done_count_ = 0;
  std::mutex mutex_;
  status failure_;
};

}  // namespace

status search(const tune_search_space& plan, const content_sample& sample, const progress_sink& progress,
              const cancellation& cancel, tune_facts& facts) {
  return searcher(plan, sample, progress, cancel, facts).run();
}

}  // namespace cutpoint
