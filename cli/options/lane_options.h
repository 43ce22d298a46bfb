// The options that choose the back end, GPUs and threads, and where these run. None of them changes the result.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/status.h>

#include "cli/common/options.h"

namespace cutpoint::cli {

/// How many threads an engine has, and where they run.
class thread_options {
 public:
  void add_to(option_list& options);

  /// Returns the first of the options that was given, or an empty name.
  [[nodiscard]] std::string_view first_option() const;

  /// Sets what was given. Errors: a wrong name, value or bound.
  [[nodiscard]] status set(engine_options& engine) const;

 private:
  std::optional<std::string> threads_;
  std::optional<std::string> placement_;
};

class lane_options {
 public:
  void add_to(option_list& options);

  /// Errors: a wrong name, value, bound or combination.
  [[nodiscard]] status set(feed_options& feed, engine_options& engine) const;

 private:
  [[nodiscard]] status check_devices(feed_options& feed) const;
  [[nodiscard]] result<std::vector<int>> checked_devices() const;

  std::string backend_ = "auto";
  std::optional<std::string> devices_;
  std::optional<std::string> device_memory_;
  std::optional<std::string> batch_;
  thread_options threads_;
};

/// Returns the names that --placement takes.
[[nodiscard]] std::vector<std::string_view> placement_names();

}  // namespace cutpoint::cli
