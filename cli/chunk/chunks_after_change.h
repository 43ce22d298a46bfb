// `chunk --since`: finds the chunks of a changed file from the listing of its old chunks.
#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <cutpoint/fingerprint.h>
#include <cutpoint/rechunk.h>
#include <cutpoint/status.h>

#include "cli/chunk/old_listing.h"

namespace cutpoint::cli {

class change_options {
 public:
  /// Adds the options to a command that already has the options which --since excludes.
  void add_to(CLI::App& command);

  [[nodiscard]] bool is_given() const { return listing_.has_value(); }
  [[nodiscard]] const std::string& listing() const { return *listing_; }
  /// Parses `--changed`. Errors: invalid_argument.
  [[nodiscard]] result<stream_change> change() const;

 private:
  std::optional<std::string> listing_;
  std::string changed_;
};

/// The listing of the changed file.
struct new_listing {
  old_listing listed;
  rechunked found;
  std::string canonical;
};

/// Cuts the changed bytes anew and fingerprints the new chunks, with at most `memory_bytes` of the file in memory.
/// Errors: io_error; cancelled; memory_limit, for a chunk that is longer; every other error is a wrong listing or
/// change.
[[nodiscard]] result<new_listing> chunks_after_change(old_listing old, const stream_change& change,
                                                      const std::string& path, std::uint64_t memory_bytes);

}  // namespace cutpoint::cli
