// `chunk --since`: the chunks of a file that was changed, from a listing of those that it had.
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
  /// Adds the options to a command, which has those that a listing answers already.
  void add_to(CLI::App& command);

  [[nodiscard]] bool is_given() const { return listing_.has_value(); }
  [[nodiscard]] const std::string& listing() const { return *listing_; }
  /// Errors: invalid_argument.
  [[nodiscard]] result<stream_change> change() const;

 private:
  std::optional<std::string> listing_;
  std::string changed_;
};

/// The listing of the file as it is now.
struct new_listing {
  old_listing listed;
  rechunked found;
  std::string canonical;
};

/// Finds it, and makes the fingerprints of the chunks that are new. The file is held up to `memory_bytes`. Errors:
/// io_error; cancelled; memory_limit, for a chunk that outgrows it; everything else is a wrong listing or change.
[[nodiscard]] result<new_listing> chunks_after_change(old_listing old, const stream_change& change,
                                                      const std::string& path, std::uint64_t memory_bytes);

}  // namespace cutpoint::cli
