// The options that say who does the work: back end, GPUs, threads and where these run. None changes what comes out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/engine.h>
#include <cutpoint/status.h>

namespace cutpoint::cli {

class lane_options {
 public:
  void add_to(CLI::App& command);

  /// Errors: every wrong name, value, bound or contradiction.
  [[nodiscard]] status set(feed_options& feed, engine_options& engine) const;

 private:
  [[nodiscard]] status check_devices(feed_options& feed) const;
  [[nodiscard]] status check_placement(backend where, engine_options& engine) const;
  [[nodiscard]] result<std::vector<int>> checked_devices() const;

  std::string backend_ = "auto";
  std::optional<std::string> devices_;
  std::optional<std::string> device_memory_;
  std::string placement_ = "auto";
  std::optional<std::string> batch_;
  std::optional<std::string> threads_;
};

/// The names that --placement takes.
[[nodiscard]] std::vector<std::string_view> placement_names();

}  // namespace cutpoint::cli
