// Patterns that exclude or include entries of a tree. Their syntax is a subset of gitignore's.
//
// A pattern is matched against an entry's path relative to the directory that was given to the walk.
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
// There is no negation: a pattern that begins with '!' is refused. A name that begins with '!' is written "\!name".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/status.h>

namespace cutpoint {

class path_pattern {
 public:
  /// Parses a pattern. Errors: invalid_argument, if the pattern is empty, consists of slashes only, begins with '!' or
  /// contains a zero byte, or if it cannot match any entry because a name in it is empty, "." or "..".
  [[nodiscard]] static result<path_pattern> make(std::string_view text);

  /// Returns whether the pattern matches the entry at `path`, which neither begins nor ends with a slash. An entry in a
  /// directory that matches does not itself need to match.
  [[nodiscard]] bool matches(std::string_view path, bool is_directory) const;

 private:
  std::vector<std::string> names_;  ///< the names between the slashes; "**" stands for any number of names
  bool is_for_directories_ = false;
};

}  // namespace cutpoint
