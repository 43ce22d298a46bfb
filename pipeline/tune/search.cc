// The tuner's search. It counts what all candidates save, on all threads, and then measures the best, on one thread.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <mutex>
#include <utility>

#include <cutpoint/text.h>
#include <cutpoint/tune/search.h>
#include <fmt/format.h>

#include "host/core/parallel.h"
#include "pipeline/tune/count.h"

namespace cutpoint {

namespace {

/// Sizes are adjusted until the mean on the sample differs by this share from the wanted mean, at most.
constexpr double near_share = 0.05;
/// How many sizes are tried, at most.
constexpr int most_tries = 5;
/// The largest factor between the adjusted sizes and those that suit random bytes.
constexpr double most_change = 8;
/// A mean is tried if the sample has at least this many chunks of it. Fewer say nothing about savings.
constexpr std::uint64_t least_chunks = 16;

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
    list_tasks();
    count_tasks();
    CUTPOINT_RETURN_IF_FAILED(list_seqcdc_tasks());
    count_tasks();
    report_progress({});
    if (!failure_.ok()) return failure_;
    if (tasks_.empty()) return too_small();
    add_rows();
    leave_out_unreached_means();
    if (plan_.counts_compression) compress_rows();
    if (!failure_.ok()) return failure_;
    const status timed = time_rows();
    leave_out_equal_cuts();
    report_progress({});
    return cancel_.is_requested() ? stopped_as_asked() : timed;
  }

 private:
  void report_progress(std::string_view text) const {
    if (progress_) progress_(text);
  }

  /// Lists the profiles, and the means that are tried with all algorithms but SeqCDC.
  void list_tasks() {
    if (plan_.usual) tasks_.push_back({.name = plan_.usual->name});
    for (const std::string& name : plan_.profiles) tasks_.push_back({.name = name});
    for (const std::uint64_t target : plan_.targets) {
      const bool is_tried = sample_.bytes().size() / least_chunks >= target;
      (is_tried ? targets_ : facts_.skipped_targets).push_back(target);
    }
    for (const std::uint64_t target : targets_) {
      for (const std::string& name : plan_.algorithms) {
        if (!is_seqcdc(name)) tasks_.push_back({.name = name, .target = target});
      }
    }
  }

  /// Lists SeqCDC's parameters. If no other setting saves anything, parameters cannot be told apart by their savings,
  /// and only the usual ones are listed.
  status list_seqcdc_tasks() {
    std::vector<std::string> names;
    std::copy_if(plan_.algorithms.begin(), plan_.algorithms.end(), std::back_inserter(names), is_seqcdc);
    if (names.empty()) return {};
    facts_.skips_seqcdc_search =
        plan_.searches_seqcdc && !done_.empty() && std::none_of(done_.begin(), done_.end(), [this](const auto& each) {
          return each && facts_.net_savings(row_of(*each)) > 0;
        });
    for (const std::uint64_t target : targets_) {
      std::vector<std::optional<seqcdc_values>> values = {std::nullopt};
      if (plan_.searches_seqcdc &&
          !facts_.skips_seqcdc_search) {  // one grid for both orders, which have equal means on random bytes
        report_progress(fmt::format("SeqCDC: bounds for {}", format_size(target)));
        const auto usual = usual_bounds(target, plan_.monte_carlo);
        CUTPOINT_TRY(const auto searched, usual ? result(usual) : find_bounds(target, plan_.monte_carlo, cancel_));
        if (!searched) return {};
        facts_.bounds.push_back(*searched);
        const auto grid = grid_between(*searched, plan_.most_combinations);
        values.assign(grid.begin(), grid.end());
      }
      for (const std::string& name : names) {
        for (const auto& each : values) tasks_.push_back({.name = name, .target = target, .values = each});
      }
    }
    return {};
  }

  /// Performs the tasks that were listed since the last call.
  void count_tasks() {
    const std::size_t first = done_.size();
    done_.resize(tasks_.size());
    run_parallel(plan_.monte_carlo.threads, tasks_.size() - first, [this, first](std::size_t, std::size_t i) {
      if (!cancel_.is_requested()) count(first + i);
    });
  }

  [[nodiscard]] status too_small() const {
    const std::uint64_t least = *std::min_element(plan_.targets.begin(), plan_.targets.end());
    return {status_code::io_error,
            fmt::format("too little data to compare settings: {}, and a mean of {} needs {} chunks of it",
                        size_with_unit(sample_.bytes().size()), size_with_unit(least), least_chunks)};
  }

  static tune_row row_of(const counted& each) { return {.candidate = each.candidate, .counts = each.counts.total}; }

  /// Performs a task. Thread-safe.
  void count(std::size_t index) {
    auto outcome =
        tasks_[index].target != 0 && !tasks_[index].values ? count_near(tasks_[index]) : count_once(tasks_[index]);
    const std::lock_guard lock(mutex_);
    if (outcome) {
      done_[index] = *std::move(outcome);
    } else if (failure_.ok()) {
      failure_ = outcome.error();
    }
    report_progress(fmt::format("{} of {}: {}", ++done_count_, tasks_.size(), tasks_[index].name));
  }

  result<counted> count_candidate(result<tune_candidate> candidate) const {
    if (!candidate) return candidate.error();
    CUTPOINT_TRY(auto counts, count_on(sample_, streams_, candidate->cuts));
    return counted{*std::move(candidate), counts};
  }

  result<counted> count_once(const tune_task& task) const {
    if (task.values) return count_candidate(candidate_of(task.name, task.target, *task.values));
    return count_candidate(is_usual(task) ? *plan_.usual : candidate_of_profile(task.name));
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
                               .tried_count = group.size(),
                               .is_usual = is_usual(tasks_[best])});
      }
      group.clear();
    }
  }

  [[nodiscard]] bool is_usual(const tune_task& task) const { return plan_.usual && &task == tasks_.data(); }

  static double distance(const tune_row& row) {
    if (row.is_usual || row.candidate.target_bytes == 0) return 0;
    return std::abs(std::log(std::max(row.mean_bytes, 1.0) / static_cast<double>(row.candidate.target_bytes)));
  }

  /// Keeps of the rows that are alike the first by `order`.
  template <class Order, class Alike>
  void keep_first(Order order, Alike is_alike) {
    std::vector<tune_row> rows = std::exchange(facts_.rows, {});
    std::ranges::stable_sort(rows, {}, order);
    for (tune_row& row : rows) {
      const auto is_same = [&](const tune_row& earlier) { return is_alike(earlier, row); };
      if (std::ranges::none_of(facts_.rows, is_same)) facts_.rows.push_back(std::move(row));
    }
  }

  /// Leaves out rows of an algorithm whose mean another one has that was tried for a nearer mean.
  void leave_out_unreached_means() {
    keep_first(distance, [](const tune_row& a, const tune_row& b) {
      const bool has_grid =
          a.tried_count > 1 && a.candidate.target_bytes == b.candidate.target_bytes;  // its best are wanted
      return !has_grid && a.candidate.name == b.candidate.name &&
             std::abs(std::log(a.mean_bytes / b.mean_bytes)) < near_share;
    });
  }

  /// Leaves out rows whose chunks are those of a faster one, since the ends of files make them.
  void leave_out_equal_cuts() {
    const auto slowness = [](const tune_row& row) {
      return std::pair(!row.is_usual, row.speed ? 1 / row.speed->bytes_per_second() : 1);
    };
    keep_first(slowness, [](const tune_row& a, const tune_row& b) {
      return distance(b) > std::log1p(close_share) && a.counts.chunk_count == b.counts.chunk_count &&
             a.counts.unique_bytes == b.counts.unique_bytes;
    });
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
      merits.push_back({facts_.net_savings(row_of(*done_[i])), done_[i]->counts.cut_bytes_per_second});
    }
    std::vector<std::size_t> best;
    for (const std::size_t place : ranked(merits, facts_.goal)) {
      if (best.size() < plan_.best_count) best.push_back(group[place]);
    }
    return best;
  }

  /// Compresses the new chunks of each row, on several threads.
  void compress_rows() {
    done_count_ = 0;
    run_parallel(plan_.monte_carlo.threads, facts_.rows.size(), [this](std::size_t, std::size_t i) {
      if (cancel_.is_requested()) return;
      const auto counts = count_on(sample_, streams_, facts_.rows[i].candidate.cuts, new_chunks::compressed);
      const std::lock_guard lock(mutex_);
      if (counts) facts_.rows[i].compression = counts->compression;
      if (counts) facts_.rows[i].kept_by_block = counts->kept_by_block;
      if (!counts && failure_.ok()) failure_ = counts.error();
      report_progress(fmt::format("compressing by {} of {} settings", ++done_count_, facts_.rows.size()));
    });
  }

  /// Measures the speeds of the rows. Rows that are not reached before cancelling have no speed: their cutting speed
  /// from counting was measured while other threads worked.
  status time_rows() {
    const aligned_bytes data = timing_data(sample_, streams_);
    if (data.view().empty()) return {};
    const auto round_begins = [&](std::uint64_t round) {
      report_progress(fmt::format("speeds of {} settings, pass {} of {}", facts_.rows.size(), round + 1, plan_.rounds));
    };
    return measure_rows(facts_.rows, facts_.fingerprint, data.view(), plan_.rounds, round_begins, cancel_);
  }

  const tune_search_space& plan_;
  const content_sample& sample_;
  std::vector<sampled_range> streams_;
  const progress_sink& progress_;
  const cancellation& cancel_;
  tune_facts& facts_;
  std::vector<std::uint64_t> targets_;  ///< the means that are tried
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
