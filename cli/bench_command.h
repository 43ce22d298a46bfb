// `cutpoint bench`: what each back end does a second, algorithm by algorithm, beside a plain read of the same memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/status.h>

#include "cli/bench_jobs.h"
#include "cli/bench_report.h"
#include "cli/console.h"
#include "cli/exit_code.h"

namespace cutpoint::cli {

class bench_command {
 public:
  CLI::App* add_to(CLI::App& app);
  exit_code run();

 private:
  [[nodiscard]] result<bench_facts> facts() const;
  [[nodiscard]] exit_code run(const std::vector<bench_job>& jobs, bench_facts facts, const console& say) const;
  [[nodiscard]] status measure_all(const std::vector<bench_job>& jobs, byte_span data, bench_facts& facts,
                                   const console& say) const;

  bool is_cpu_ = false;  ///< which is all that there is to measure
  bench_job_options jobs_;
  std::string bytes_ = "256M";
  std::optional<std::string> file_;
  std::string rounds_ = "5";
  std::string output_;
  bool is_json_ = false;
  verbosity verbosity_ = verbosity::normal;
};

}  // namespace cutpoint::cli
