// The options that say what `bench` measures: names, sizes, fingerprints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/catalog.h>
#include <cutpoint/status.h>

#include "cli/bench_ways.h"

namespace cutpoint::cli {

class bench_job_options {
 public:
  void add_to(CLI::App& command);

  /// The plain read, and what is named; everything where nothing is. Measures what `automatic` chooses for each. Errors:
  /// every wrong name or size; unavailable, for a fingerprint that a library refuses to make.
  [[nodiscard]] result<std::vector<bench_job>> jobs() const;

 private:
  using settings = std::vector<parameter_setting>;
  using jobs_or_why = result<std::vector<bench_job>>;

  [[nodiscard]] std::string size() const;
  [[nodiscard]] jobs_or_why named_cuts(const settings& sizes) const;
  [[nodiscard]] jobs_or_why all_cuts(const settings& sizes) const;
  [[nodiscard]] jobs_or_why fingerprint_jobs(const settings& sizes) const;

  std::vector<std::string> algorithms_;
  std::vector<std::string> profiles_;
  std::vector<std::string> fingerprints_;
  std::optional<std::string> size_;
};

}  // namespace cutpoint::cli
