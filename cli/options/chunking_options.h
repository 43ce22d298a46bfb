// The options that say how streams are cut and fingerprinted, and by what, in a group for each concern.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/backends.h>
#include <cutpoint/catalog.h>
#include <cutpoint/context_file.h>
#include <cutpoint/engine.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

#include "cli/common/options.h"

namespace cutpoint::cli {

// --- Cuts ------------------------------------------------------------------------------------------------------------

/// Cuts, and the name by which options chose them.
struct chosen_cuts {
  std::string name;
  named_chunker cuts;
};

class cut_options {
 public:
  void add_to(option_list& options);
  /// Adds options whose names are repeatable, for `all_checked`.
  void add_repeatable_to(option_list& options);
  void add_key_to(option_list& options);

  /// Takes the cuts that a listing names. Errors: invalid_argument, if options name any, or if a join changed the cuts.
  [[nodiscard]] status use(const std::string& canonical);

  /// Whether any option says how streams are cut.
  [[nodiscard]] bool is_given() const { return algorithm_ || profile_ || cuts_ || size_ || !parameters_.empty(); }

  /// Reads the key's file, if one is given. Errors: as `read_secret_key`.
  [[nodiscard]] result<std::optional<secret_key>> key() const;

  /// Reads the key's file, if one is given. Errors: a wrong name, value, bound or combination; as `read_secret_key`.
  [[nodiscard]] result<named_chunker> checked(std::string_view default_algorithm = "fastcdc") const;
  /// Does the same with the key that `key()` returns. If it is also for rules of a context, cuts that take no key ignore it.
  [[nodiscard]] result<named_chunker> checked(const std::optional<secret_key>& key, bool is_for_rules,
                                              std::string_view default_algorithm = "fastcdc") const;
  /// Does the same for each name of `add_repeatable_to`: algorithms, then profiles, then canonical strings.
  [[nodiscard]] result<std::vector<chosen_cuts>> all_checked(std::string_view default_algorithm = "fastcdc") const;

 private:
  void add_sizes_to(option_list& options);
  [[nodiscard]] result<std::vector<parameter_setting>> settings() const;

  std::optional<std::string> algorithm_;
  std::optional<std::string> profile_;
  std::optional<std::string> cuts_;
  std::optional<std::string> size_;
  std::optional<std::string> key_file_;
  std::vector<std::string> parameters_;
  // Of `add_repeatable_to`.
  std::vector<std::string> algorithms_;
  std::vector<std::string> profiles_;
  std::vector<std::string> all_cuts_;
};

/// Parses the value of `--size`. Errors: invalid_argument; the message begins with "--size".
[[nodiscard]] result<std::vector<parameter_setting>> checked_sizes(const std::string& size);

/// Checks that a name of the catalog has the given kind. Errors: unknown_name; invalid_argument, with the option to
/// use.
[[nodiscard]] status check_kind(const std::string& name, entry_kind kind);

// --- Fingerprints ----------------------------------------------------------------------------------------------------

class hash_options {
 public:
  void add_to(option_list& options);
  /// Adds an option that is repeatable, for `all_checked`.
  void add_repeatable_to(option_list& options);

  /// Returns whether `--hash` names a fingerprint other than `none`.
  [[nodiscard]] bool has_fingerprint() const { return fingerprint_.value_or("none") != "none"; }

  /// `default_fingerprint` is used if `--hash` is not given. Errors: unknown_name; invalid_argument.
  [[nodiscard]] result<fingerprint_recipe> checked(std::string_view default_fingerprint) const;
  /// Does the same for each fingerprint of `add_repeatable_to`.
  [[nodiscard]] result<std::vector<fingerprint_recipe>> all_checked(std::string_view default_fingerprint) const;

  /// Takes the fingerprint that a listing names. Errors: invalid_argument, if an option names one, if the listing has no
  /// digests, or if `--hash-key` is missing or too much.
  [[nodiscard]] status use(const std::string& name);

  /// Returns the key, if one is given. Errors: invalid_argument; the message does not contain the key.
  [[nodiscard]] result<std::optional<fingerprint_key>> checked_key() const;

 private:
  void add_key_to(option_list& options);

  std::optional<std::string> fingerprint_;
  std::optional<std::string> key_;
  std::vector<std::string> all_fingerprints_;  ///< of `add_repeatable_to`
};

// --- Contexts --------------------------------------------------------------------------------------------------------

class context_option {
 public:
  /// `meaning` is what help says of the option.
  option& add_to(option_list& options, std::string_view meaning =
                                           "Cut files of some kinds differently: 'prune' for the sets of the "
                                           "paper, or a file with rules");
  [[nodiscard]] bool is_given() const { return !context_.empty(); }

  /// Returns what the option names, or a context without rules. `key` is that of `parse_context_file`. Errors: a file that cannot
  /// be read; its mistakes.
  [[nodiscard]] result<context_file> checked(const std::optional<secret_key>& key = {}) const;

 private:
  std::string context_;
};

// --- Back ends, GPUs and threads -------------------------------------------------------------------------------------

/// How many threads an engine has, and where they run.
class thread_options {
 public:
  void add_to(option_list& options);
  /// Adds no option for where they run.
  void add_count_to(option_list& options);

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
  /// Adds only what predictions depend on: threads, devices, and their memory. The back end stays automatic, and the devices may be
  /// those of another machine.
  void add_predicted_to(option_list& options);

  /// Errors: a wrong name, value, bound or combination; as `check_gpus`, if an option is for devices.
  [[nodiscard]] status set(feed_options& feed, engine_options& engine) const;

 private:
  void add_devices_to(option_list& options);
  [[nodiscard]] status check_devices(feed_options& feed) const;
  [[nodiscard]] result<std::vector<int>> checked_devices() const;

  bool is_predicted_ = false;
  std::string backend_ = "auto";
  std::optional<std::string> devices_;
  std::optional<std::string> device_memory_;
  std::optional<std::string> batch_;
  thread_options threads_;
};

/// More than any machine has.
inline constexpr std::uint64_t most_devices = 4096;
/// Looks whether these devices are among those that there are and can be used. `option` is what the user wrote. Errors:
/// invalid_argument, with the option, the number and how many there are, or why there are none.
[[nodiscard]] status check_gpus(std::string_view option, const std::vector<int>& devices,
                                const result<std::vector<gpu_info>>& gpus_here);

[[nodiscard]] std::vector<std::string_view> placement_names();

// --- Segments --------------------------------------------------------------------------------------------------------

class segment_options {
 public:
  void add_to(option_list& options);
  /// Adds no option for the join, which stays exact.
  void add_size_to(option_list& options);

  /// Sets the size of segments if it changes the cuts or is given. Errors: unknown_name; invalid_argument.
  [[nodiscard]] status set(feed_options& feed) const;

 private:
  std::optional<std::string> segment_;
  std::string join_ = "exact";
};

[[nodiscard]] std::vector<std::string_view> join_names();
/// Returns the canonical string. If the join changes the cuts, the join and the size of segments follow, which no
/// canonical string has.
[[nodiscard]] std::string name_of_cuts(const feed_options& options);

// --- All of them -----------------------------------------------------------------------------------------------------

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
