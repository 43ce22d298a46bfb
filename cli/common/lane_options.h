// The options that choose the back end, GPUs and threads. None of them changes the result.
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

  /// Errors: a wrong name, value, bound or combination.
  [[nodiscard]] status set(feed_options& feed, engine_options& engine) const;

 private:
  [[nodiscard]] status check_devices(feed_options& feed) const;
  [[nodiscard]] result<std::vector<int>> checked_devices() const;

  std::string backend_ = "auto";
  std::optional<std::string> devices_;
  std::optional<std::string> device_memory_;
  std::optional<std::string> batch_;
  std::optional<std::string> threads_;
};

}  // namespace cutpoint::cli
