// The options that choose what `bench` measures: names, sizes and fingerprints.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/catalog.h>
#include <cutpoint/status.h>

#include "cli/bench/measure.h"
#include "cli/common/options.h"

namespace cutpoint::cli {

class bench_job_options {
 public:
  void add_to(option_list& options);

  /// Returns the jobs for kernels: the plain read and what is named, or everything by default. Also finds the choice of
  /// `automatic` for each. Errors: a wrong name or size; unavailable, for a fingerprint that a library refuses to make.
  [[nodiscard]] result<std::vector<bench_job>> kernel_jobs() const;

  /// Returns the jobs for the engine: each name with each fingerprint, or a few of both by default. Errors: as above.
  [[nodiscard]] result<std::vector<engine_job>> engine_jobs() const;

 private:
  /// An entry of the catalog at some sizes.
  struct sized_cuts {
    std::string name;
    std::string size;  ///< as given; "own" for the entry's own sizes
    chunker cuts;
  };
  using cuts_or_why = result<std::vector<sized_cuts>>;

  [[nodiscard]] bool has_names() const { return !algorithms_.empty() || !profiles_.empty(); }
  [[nodiscard]] std::vector<std::string> sizes() const;
  [[nodiscard]] cuts_or_why named_cuts() const;
  [[nodiscard]] cuts_or_why all_cuts() const;
  [[nodiscard]] cuts_or_why cuts_of(const std::vector<std::string>& algorithms) const;
  [[nodiscard]] status add_sized(std::vector<sized_cuts>& all, const std::string& name) const;
  [[nodiscard]] result<std::vector<bench_job>> fingerprint_jobs() const;

  std::vector<std::string> algorithms_;
  std::vector<std::string> profiles_;
  std::vector<std::string> fingerprints_;
  std::vector<std::string> sizes_;
};

}  // namespace cutpoint::cli
