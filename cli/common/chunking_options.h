// All options that say how streams are cut and fingerprinted, for the commands that do so: a group for each concern.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/engine.h>
#include <cutpoint/status.h>

#include "cli/common/cut_options.h"
#include "cli/common/hash_options.h"
#include "cli/common/lane_options.h"
#include "cli/common/segment_options.h"

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
  void add_to(CLI::App& command);

  [[nodiscard]] const hash_options& hash() const { return hash_; }

  /// Errors: every wrong name, value, bound or contradiction. `default_fingerprint` stands where none is asked for.
  [[nodiscard]] result<chunking> checked(std::string_view default_fingerprint) const;

  /// The bytes of streams that may be held. Errors: invalid_argument.
  [[nodiscard]] result<std::uint64_t> checked_memory() const;

 private:
  cut_options cuts_;
  hash_options hash_;
  lane_options lanes_;
  std::optional<std::string> memory_;
  segment_options segments_;
};

}  // namespace cutpoint::cli
