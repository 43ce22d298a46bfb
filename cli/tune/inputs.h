// Reads the inputs of `tune`: once for a sample, and again to count what a setting saves on all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cutpoint/dedup.h>
#include <cutpoint/engine.h>

#include "cli/common/console.h"
#include "cli/common/output.h"
#include "cli/inputs/inputs.h"
#include "cli/tune/options.h"

namespace cutpoint::cli {

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

}  // namespace cutpoint::cli
