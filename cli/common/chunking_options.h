// The options that say how streams are cut and fingerprinted, shared by the commands that do so.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/catalog.h>
#include <cutpoint/engine.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

#include "cli/common/console.h"

namespace cutpoint::cli {

/// What the options ask for, checked. Where the segments change the cuts, their size is there.
struct chunking {
  feed_options feed;
  engine_options engine;
  std::vector<std::string> warnings;
  std::uint64_t reading_bytes = 0;  ///< of the memory that is allowed, those that are for reading ahead, not the feed's
};

class chunking_options {
 public:
  /// Adds the options to a command.
  void add_to(CLI::App& command);

  /// Whether a fingerprint was asked for by name, another than `none`.
  [[nodiscard]] bool has_fingerprint() const { return fingerprint_.value_or("none") != "none"; }

  /// Errors: every wrong name, value, bound or contradiction. `default_fingerprint` stands where none is asked for.
  [[nodiscard]] result<chunking> checked(std::string_view default_fingerprint) const;

  /// The bytes of streams that may be held. Errors: invalid_argument.
  [[nodiscard]] result<std::uint64_t> checked_memory() const;

  /// The key of fingerprints, where one is given. Errors: invalid_argument, which does not tell it.
  [[nodiscard]] result<std::optional<fingerprint_key>> checked_key() const;

 private:
  [[nodiscard]] result<named_chunker> checked_chunker() const;
  [[nodiscard]] result<std::vector<parameter_setting>> settings() const;
  [[nodiscard]] status check_work(chunking& made) const;
  [[nodiscard]] status check_device(chunking& made) const;
  [[nodiscard]] status check_plan(chunking& made) const;
  [[nodiscard]] status check_placement(chunking& made) const;
  [[nodiscard]] result<std::vector<int>> checked_devices() const;

  std::optional<std::string> algorithm_;
  std::optional<std::string> profile_;
  std::optional<std::string> cuts_;
  std::optional<std::string> size_;
  std::vector<std::string> parameters_;
  std::optional<std::string> fingerprint_;
  std::optional<std::string> key_;
  std::string backend_ = "auto";
  std::optional<std::string> devices_;
  std::optional<std::string> device_memory_;
  std::string plan_ = "auto";
  std::string placement_ = "auto";
  std::optional<std::string> batch_;
  std::optional<std::string> memory_;
  std::optional<std::string> threads_;
  std::optional<std::string> segment_;
  std::string join_ = "exact";
};

/// What `--size` gives. Errors: invalid_argument, with the option's name.
[[nodiscard]] result<std::vector<parameter_setting>> checked_sizes(const std::string& size);

/// Whether the name stands where its kind is asked for. Errors: unknown_name; invalid_argument, with the right option.
[[nodiscard]] status check_kind(const std::string& name, entry_kind kind);

/// The names that --join, --placement and --plan take.
[[nodiscard]] std::vector<std::string_view> join_names();
[[nodiscard]] std::vector<std::string_view> placement_names();
[[nodiscard]] std::vector<std::string_view> plan_names();

/// As --join has it.
[[nodiscard]] std::string_view name_of(join_kind kind);
/// The canonical string; after a join that changes the cuts, with what changed them, so that it is none of the engine's.
[[nodiscard]] std::string name_of_cuts(const feed_options& options);

/// Adds -q and -v; together they contradict each other.
void add_verbosity(CLI::App& command, verbosity& level);

}  // namespace cutpoint::cli
