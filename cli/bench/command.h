// `cutpoint bench`: measures the kernels of each back end, and the engine by the processor, by a GPU and by both,
// beside a plain read of the same memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/status.h>

#include "cli/bench/jobs.h"
#include "cli/bench/report.h"
#include "cli/common/console.h"
#include "cli/common/exit_code.h"
#include "cli/common/output.h"
#include "cli/common/subcommand.h"
#include "cli/dedup/trace_file.h"

namespace cutpoint::cli {

class bench_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  struct job_lists {
    std::vector<bench_job> kernels;
    std::vector<engine_job> engine;
  };

  [[nodiscard]] result<bench_facts> facts() const;
  [[nodiscard]] result<job_lists> checked_jobs(const bench_facts& facts) const;
  [[nodiscard]] exit_code run(job_lists& jobs, bench_facts facts, const console& say) const;
  [[nodiscard]] status check_files(const output& out, const trace_file* trace) const;
  [[nodiscard]] status measure_kernels(const std::vector<bench_job>& jobs, byte_span data, bench_facts& facts,
                                       const console& say) const;
  [[nodiscard]] status measure_engine(std::vector<engine_job>& jobs, byte_span data, bench_facts& facts,
                                      trace_file* trace, const console& say) const;
  [[nodiscard]] exit_code tell(const bench_facts& facts, output& out, const console& say) const;

  bool is_cpu_ = false;
  bool is_kernels_ = false;
  bool is_engine_ = false;
  bench_job_options jobs_;
  std::string bytes_ = "256M";
  std::vector<std::string> files_;
  std::string rounds_ = "5";
  std::optional<std::string> threads_;
  trace_option trace_;
  output_option output_;
  bool is_json_ = false;
  verbosity verbosity_ = verbosity::normal;
};

}  // namespace cutpoint::cli
