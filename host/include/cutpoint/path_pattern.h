// Patterns that exclude or include entries of a tree. Their syntax is a subset of gitignore's.
//
// A pattern is matched against an entry's path relative to the directory that was given to the walk. One that begins with
// a slash and the first name of the entry's absolute path is matched against that path too: "/home/ann/tmp" leaves the
// folder out of a walk of /home/ann.
//
//     *  ?  [a-z]  [!a-z]  \x   as in fnmatch(3), byte by byte; none of them matches a slash; a leading dot is not
//                               special
//     name       an entry of that name at any depth
//     /name      only at the top, as with any pattern that has a slash anywhere but at its end: "a/b" is "/a/b"
//     name/      only a directory
//     **/name    at any depth
//     a/**/b     b in a, or in any directory below it
//     a/**       everything in a, but not a itself
//
//     !PATTERN   negated: what PATTERN matches is taken back from the patterns before it, unless it lies in a directory
//                that is left out. A name that begins with '!' is written "\!name".
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cutpoint/status.h>

namespace cutpoint {

/// Whether a pattern tells capital letters from small ones. Only those of ASCII are known.
enum class letter_case { compared, ignored };

class path_pattern {
 public:
  /// Parses a pattern. Errors: invalid_argument, if the pattern is empty, consists of slashes only or contains a zero byte,
  /// or if it cannot match any entry because a name in it is empty, "." or "..".
  [[nodiscard]] static result<path_pattern> make(std::string_view text, letter_case letters = letter_case::compared);

  /// Returns whether the pattern, negated or not, matches the entry at `path`, which neither begins nor ends with a slash.
  /// An entry in a directory that matches does not itself need to match.
  [[nodiscard]] bool matches(std::string_view path, bool is_directory) const;
  /// Returns whether the pattern begins with a slash and the first name of an absolute path, which is given without its
  /// leading slash, and matches that path.
  [[nodiscard]] bool matches_absolute(std::string_view path, bool is_directory) const;

  [[nodiscard]] bool begins_with_slash() const noexcept { return begins_with_slash_; }
  [[nodiscard]] bool is_negated() const noexcept { return is_negated_; }
  /// Returns the text that the pattern was made from.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
  std::vector<std::string> names_;  ///< the names between the slashes; "**" stands for any number of names
  bool begins_with_slash_ = false;
  bool is_for_directories_ = false;
  bool is_negated_ = false;
  int flags_ = 0;  ///< of fnmatch(3)
};

/// Patterns of which the last that matches an entry decides. Keeps which have matched any. Not thread-safe.
class pattern_list {
 public:
  /// `patterns` must outlive the list. `above` is the absolute path of the folder to which paths are relative, without its first
  /// slash, and with one at its end; patterns are not matched against absolute paths if it is empty.
  explicit pattern_list(const std::vector<path_pattern>& patterns, std::string above = {})
      : patterns_(patterns), above_(std::move(above)), has_matched_(patterns.size()) {}

  /// Returns whether patterns match an entry, and the last that does is not negated. Passes the index of each that matches for the
  /// first time to `matched`, unless that is empty.
  [[nodiscard]] bool matches(std::string_view path, bool is_directory,
                             const std::function<void(std::size_t pattern)>& matched = {});
  /// Notes that a pattern has matched elsewhere.
  void set_matched(std::size_t pattern) { has_matched_[pattern] = true; }

  [[nodiscard]] bool is_empty() const noexcept { return patterns_.empty(); }
  /// Calls `visit` for each pattern that has matched nothing, with an io_error that says so, of ENOENT.
  void visit_unmatched(const std::function<void(const path_pattern& pattern, const status& why)>& visit) const;

 private:
  const std::vector<path_pattern>& patterns_;
  std::string above_;
  std::vector<bool> has_matched_;
};

}  // namespace cutpoint
