// `cutpoint chunk`: lists the chunks of files, folders and standard input.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "cli/chunk/chunks_after_change.h"
#include "cli/chunk/format.h"
#include "cli/common/chunking_options.h"
#include "cli/common/console.h"
#include "cli/common/exit_code.h"
#include "cli/common/inputs.h"
#include "cli/common/output.h"
#include "cli/common/subcommand.h"
#include "cli/dedup/trace_file.h"

namespace cutpoint::cli {

class chunk_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  [[nodiscard]] exit_code run_after_change(chunk_format& format, const console& say) const;

  chunking_options chunking_;
  change_options change_;
  input_options inputs_{further_names::read};
  trace_option trace_;
  std::string format_ = "text";
  output_option output_;
  verbosity verbosity_ = verbosity::normal;
};

}  // namespace cutpoint::cli
