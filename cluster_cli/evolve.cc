// `cutpoint-cluster evolve`: writes a synthetic trace of versions that change as those of a real one do.
#include <cutpoint/cluster/trace_evolution.h>
#include <fmt/format.h>

#include "cli/common/output.h"
#include "cluster_cli/subcommands.h"
#include "cluster_cli/trace_files.h"

namespace cutpoint::cli {

namespace {

class evolve_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  /// What options say of how versions differ; the rest is as measured.
  struct user_changes {
    std::optional<double> changed_share;
    std::optional<double> change_chunks;
  };

  [[nodiscard]] result<user_changes> checked_changes() const;
  [[nodiscard]] status apply(const user_changes& options, std::vector<cluster::versioned_class>& classes) const;

  std::string trace_;
  std::string versions_;
  std::string changed_;
  std::string change_length_;
  std::string seed_ = "0";
  output_option output_;
  verbosity verbosity_ = verbosity::normal;
};

}  // namespace

void evolve_command::add_options(option_list& options) {
  options
      .add_argument("TRACE", trace_,
                    "A chunk trace in which the files of each class are versions, each of the one before")
      .required();
  options.add_value("--versions", versions_, "N", "Versions of each class to write, the first one included").required();
  options.add_value("--changed", changed_, "PERCENT", "Chunks of a version that change; without it, as measured");
  options.add_value("--change-length", change_length_, "CHUNKS",
                    "Mean number of chunks that change together; without it, as measured");
  options.add_value("--seed", seed_, "N", "Equal seeds give equal traces");
  output_.add_to(options);
  options.add_verbosity(verbosity_);
}

result<evolve_command::user_changes> evolve_command::checked_changes() const {
  user_changes options;
  if (!changed_.empty()) {
    CUTPOINT_TRY(const auto percent, checked_number("--changed", changed_, 0, 100));
    options.changed_share = static_cast<double>(percent) / 100;
  }
  if (!change_length_.empty()) {
    CUTPOINT_TRY(const auto chunk_count, checked_number("--change-length", change_length_, 1, 1'000'000));
    options.change_chunks = static_cast<double>(chunk_count);
  }
  return options;
}

status evolve_command::apply(const user_changes& options, std::vector<cluster::versioned_class>& classes) const {
  for (cluster::versioned_class& each : classes) {
    if (each.version_count == 1 && !options.changed_share) {
      return usage_error(
          fmt::format("{}: the class '{}' has one version, so how it changes is not known: give --changed", trace_,
                      each.application));
    }
    each.changes.changed_share = options.changed_share.value_or(each.changes.changed_share);
    each.changes.change_chunks = options.change_chunks.value_or(each.changes.change_chunks);
  }
  return {};
}

result<exit_code> evolve_command::run() {
  const console say(verbosity_);
  CUTPOINT_TRY(const auto versions, checked_number("--versions", versions_, 1, 1'000'000));
  CUTPOINT_TRY(const auto seed, checked_number("--seed", seed_, 0));
  CUTPOINT_TRY(const auto options, checked_changes());
  CUTPOINT_TRY(auto classes,
               with_trace(trace_, [](auto& reader) { return cluster::measure_changes(reader, &interruption()); }));
  CUTPOINT_RETURN_IF_FAILED(apply(options, classes));
  CUTPOINT_TRY(auto out, output_.open());
  if (out.is_same_file(trace_)) {
    return usage_error(fmt::format("{}: is the trace, and would be written over", trace_));
  }
  for (const cluster::versioned_class& each : classes) {
    say.note(fmt::format("{}: {} chunks, of which {:.4f} % change, {:.2f} together", each.application,
                         each.first_version.size(), 100 * each.changes.changed_share, each.changes.change_chunks));
  }
  return write_trace(out, say, [&](cluster::chunk_trace_writer& writer) {
    return cluster::write_versions(writer, classes,
                                   {.version_count = versions, .seed = seed, .cancel = &interruption()});
  });
}

std::unique_ptr<subcommand> make_evolve_command() { return std::make_unique<evolve_command>(); }

}  // namespace cutpoint::cli
