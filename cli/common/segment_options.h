// The options that say how streams are split for threads, and how the segments are joined again.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/engine.h>
#include <cutpoint/status.h>

namespace cutpoint::cli {

class segment_options {
 public:
  void add_to(CLI::App& command);

  /// The size of segments is there where it changes the cuts, or was asked for. Errors: unknown_name; invalid_argument.
  [[nodiscard]] status set(feed_options& feed) const;

 private:
  std::optional<std::string> segment_;
  std::string join_ = "exact";
};

/// The names that --join takes.
[[nodiscard]] std::vector<std::string_view> join_names();
[[nodiscard]] std::string_view name_of(join_kind kind);
/// The canonical string; after a join that changes the cuts, with what changed them, so that it is none of the engine's.
[[nodiscard]] std::string name_of_cuts(const feed_options& options);

}  // namespace cutpoint::cli
