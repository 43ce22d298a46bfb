// The options of `tune`, and its inputs: read once for a sample, and again to count what a setting saves on all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/dedup.h>
#include <cutpoint/engine.h>
#include <cutpoint/status.h>
#include <cutpoint/tune/facts.h>
#include <cutpoint/tune/sample.h>
#include <cutpoint/tune/search.h>

#include "cli/common/console.h"
#include "cli/common/options.h"
#include "cli/common/output.h"
#include "cli/inputs/inputs.h"

namespace cutpoint::cli {

// --- Options ---------------------------------------------------------------------------------------------------------

/// What the options ask for, checked.
struct tune_job {
  tune_search_space plan;
  sample_size size;
  tune_goal goal = tune_goal::balanced;
  fingerprint_kind fingerprint = fingerprint_kind::sha256;
  std::uint64_t chunk_cost = 0;
  std::uint64_t threads = 0;  ///< 0: one for each processor
  std::uint64_t memory_bytes = 0;
  std::uint64_t feed_bytes = 0;  ///< the part of the memory for reading
};

class tune_options {
 public:
  void add_to(option_list& options);

  /// Returns the job. Errors: a wrong name, value or bound.
  [[nodiscard]] result<tune_job> checked() const;

 private:
  [[nodiscard]] status check_plan(tune_search_space& plan) const;
  [[nodiscard]] status check_names(const tune_search_space& plan) const;
  [[nodiscard]] status check_sample(tune_job& job) const;

  std::vector<std::string> algorithms_;
  std::vector<std::string> profiles_;
  std::vector<std::string> sizes_;
  std::string goal_ = "balanced";
  std::optional<std::string> fingerprint_;
  std::optional<std::string> chunk_cost_;
  std::optional<std::string> sample_;
  std::string memory_ = "1G";
  std::optional<std::string> threads_;
  std::optional<std::string> combinations_;
  std::string runs_ = "5";
  std::string seed_ = "1";
};

[[nodiscard]] std::vector<std::string_view> goal_names();

// --- Inputs ----------------------------------------------------------------------------------------------------------

/// What a reading needs of the command.
struct tune_reading {
  const input_options& inputs;
  const tune_job& job;
  engine& threads;
  const output& out;
  const console& say;

  /// Fills a sample and the facts of the inputs, and adds the extension of each input to `extensions`. Errors: what ended
  /// the reading; cancelled, with a sample of what was read.
  [[nodiscard]] status fill(content_sample& sample, std::vector<std::string>& extensions, tune_facts& facts) const;

  /// Counts the chunks of all inputs by a row's cuts. Errors: as above.
  [[nodiscard]] status count_whole(tune_row& row) const;

 private:
  [[nodiscard]] status feed_all(const chunker& cuts, fingerprint_kind fingerprint, input_receiver& receiver,
                                std::optional<std::uint64_t> total) const;
};

// The report of `tune`: text for people and JSON for programs.

[[nodiscard]] std::string tune_report(const tune_facts& facts);
[[nodiscard]] std::string tune_json(const tune_facts& facts);

// Parts of both.

/// Returns the options of `chunk` and `dedup` that name the candidate.
[[nodiscard]] std::string options_of(const tune_candidate& candidate);
/// Returns a sentence that says why the first row is recommended.
[[nodiscard]] std::string why_recommended(const tune_facts& facts);
/// Returns a sentence that warns about the recommendation, or an empty text.
[[nodiscard]] std::string warning_about(const tune_facts& facts);

}  // namespace cutpoint::cli
