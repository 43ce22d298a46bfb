// The options of `chunk` and `dedup` that say how streams are cut and fingerprinted, in a group for each concern.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/context_file.h>
#include <cutpoint/engine.h>
#include <cutpoint/status.h>

#include "cli/common/options.h"
#include "cli/options/cut_options.h"
#include "cli/options/hash_options.h"
#include "cli/options/lane_options.h"
#include "cli/options/segment_options.h"

namespace cutpoint::cli {

/// What the options ask for, checked. If the segments change the cuts, the size of segments is set.
struct chunking {
  feed_options feed;
  engine_options engine;
  std::vector<std::string> warnings;
  std::uint64_t reading_bytes = 0;  ///< the part of the allowed memory that read-ahead uses
};

class chunking_options {
 public:
  void add_to(option_list& options);

  [[nodiscard]] const hash_options& hash() const { return hash_; }

  /// Takes the cuts and the fingerprint that a listing names. Errors: as for `cut_options::use` and `hash_options::use`.
  [[nodiscard]] status use(const std::string& canonical, const std::string& fingerprint);

  /// Cuts by a context: files with a rule by the rule, and the others by its chunker if it names one. Errors: invalid_argument, if
  /// the options name another for these.
  [[nodiscard]] status use(const context_file& context, chunking& job) const;

  /// As `cut_options::key`.
  [[nodiscard]] result<std::optional<secret_key>> key() const { return cuts_.key(); }

  /// `default_fingerprint` is used if the options name none. Errors: a wrong name, value, bound or combination.
  [[nodiscard]] result<chunking> checked(std::string_view default_fingerprint) const;
  /// Does the same with the key that `key()` returns, which rules of `context` may take too.
  [[nodiscard]] result<chunking> checked(std::string_view default_fingerprint, const std::optional<secret_key>& key,
                                         const context_file& context) const;

  /// Returns how many bytes of streams may be held in memory. Errors: invalid_argument.
  [[nodiscard]] result<std::uint64_t> checked_memory() const;

 private:
  cut_options cuts_;
  hash_options hash_;
  lane_options lanes_;
  std::optional<std::string> memory_;
  segment_options segments_;
};

}  // namespace cutpoint::cli
