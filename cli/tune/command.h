// `cutpoint tune`: recommends an algorithm with sizes and parameters by its savings and speed on a sample of the data.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "cli/common/console.h"
#include "cli/common/exit_code.h"
#include "cli/common/inputs.h"
#include "cli/common/output.h"
#include "cli/common/subcommand.h"
#include "cli/tune/options.h"

namespace cutpoint::cli {

class tune_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  [[nodiscard]] status check() const;
  [[nodiscard]] status simulate(const tune_job& job, tune_facts& facts) const;
  [[nodiscard]] status find(const tune_job& job, engine& threads, const output& out, const console& say,
                            tune_facts& facts) const;
  [[nodiscard]] exit_code tell(const tune_facts& facts, const status& outcome, output& out, const console& say) const;

  tune_options options_;
  input_options inputs_{further_names::skip};
  bool is_monte_carlo_ = false;
  bool is_verified_ = false;
  bool is_json_ = false;
  output_option output_;
  verbosity verbosity_ = verbosity::normal;
};

}  // namespace cutpoint::cli
