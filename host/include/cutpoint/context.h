// A context: rules by which files of some kinds are cut and compressed differently from all others (PRUNE section 4.3).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/chunker.h>
#include <cutpoint/status.h>

namespace cutpoint {

inline constexpr int highest_compression_level = 19;  ///< of zstd, in a store
inline constexpr int usual_compression_level = 1;     ///< of a store that names none
/// Compression pays, for a store, if it makes a content shorter by this part of its length: a 32nd.
inline constexpr std::size_t paying_compression_divisor = 32;
inline constexpr std::size_t longest_context = std::size_t{256} << 10;  ///< bytes of the canonical text of a context

/// A rule says how the files of one class are cut and compressed.
struct context_rule {
  /// Names the class: 1 to 64 lower-case letters, digits, "-" and "_", of which the first is a letter; not "others".
  std::string name;
  /// The extensions of the class's files, in lower case and without the first dot, such as "mp4" and "tar.gz"; at least one, each
  /// of 1 to 64 visible ASCII characters, but no commas, semicolons, slashes and quotation marks. An extension belongs to one rule.
  std::vector<std::string> extensions;
  /// Cuts the files. With `fixed` and a size that few files exceed, most files are one chunk.
  chunker cuts;
  /// The level of zstd for their chunks in a store, 1 to 19; 0: they are not compressed; nullopt: as those of all other files.
  std::optional<int> compression_level = {};
};

/// The rules of a context, in the order of the names of their classes. Files without a rule are cut by the chunker that a feed or a
/// store has anyway, and their class is called "others".
///
/// A context is immutable. Any thread may call any member at any time.
class chunking_context {
 public:
  /// A context without rules.
  chunking_context() = default;

  /// Errors: invalid_argument, for more than 255 rules, a canonical text of more than `longest_context` bytes, or what the fields of
  /// `context_rule` exclude.
  [[nodiscard]] static result<chunking_context> make(std::vector<context_rule> rules);

  /// Reads what `canonical` returns. Errors: invalid_argument, if the text has another form; those of `make` and of
  /// `parse_canonical`.
  [[nodiscard]] static result<chunking_context> parse(std::string_view canonical);

  /// Rule number k, counted from 1, is `rules()[k - 1]`.
  [[nodiscard]] std::span<const context_rule> rules() const noexcept { return rules_; }

  /// Returns the number of the rule for the file of a path, or 0 if no rule applies. The longest extension counts: of "a.tar.gz",
  /// "tar.gz" before "gz". Letters A to Z of the path count as lower case. A dot that begins a name begins no extension.
  [[nodiscard]] std::size_t rule_of(std::string_view path) const;

  /// Returns the name of a rule's class, by the rule's number; "others" for 0.
  [[nodiscard]] std::string_view class_name(std::size_t rule) const noexcept;

  /// Returns the chunkers of all rules in order, for `feed_options::rule_cuts`.
  [[nodiscard]] std::vector<chunker> cuts() const;

  /// Returns a line for each rule: the class, its extensions in order and separated by commas, the canonical string of its chunker,
  /// and "default", "none" or "zstd-LEVEL", separated by semicolons. Equal texts mean equal rules, in this and every later release.
  [[nodiscard]] const std::string& canonical() const noexcept { return canonical_; }

  friend bool operator==(const chunking_context& a, const chunking_context& b) { return a.canonical_ == b.canonical_; }

 private:
  std::vector<context_rule> rules_;
  std::map<std::string, std::size_t, std::less<>> rule_of_extension_;
  std::string canonical_;
};

/// The name of the class of all files without a rule.
inline constexpr std::string_view other_files = "others";

/// Returns PRUNE's two sets: the extensions that the paper calls immutable, multimedia and compressed files, are cut at fixed
/// lengths of 8 KiB and not compressed; all other files, the mutable ones, have no rule.
[[nodiscard]] const chunking_context& prune_context();

}  // namespace cutpoint
