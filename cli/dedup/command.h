// `cutpoint dedup`: reports what deduplication would save, and where the time went.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "cli/common/chunking_options.h"
#include "cli/common/console.h"
#include "cli/common/exit_code.h"
#include "cli/common/inputs.h"
#include "cli/common/output.h"
#include "cli/common/subcommand.h"
#include "cli/dedup/trace_file.h"

namespace cutpoint::cli {

class dedup_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  exit_code run(const chunking& job, file_reader& reader, engine& threads, trace_file* trace, const console& say) const;

  chunking_options chunking_;
  input_options inputs_{further_names::skip};
  trace_option trace_;
  output_option output_;
  bool is_json_ = false;
  bool is_detailed_ = false;
  verbosity verbosity_ = verbosity::normal;
};

}  // namespace cutpoint::cli
