// Patterns of paths in a tree, by which entries are excluded or included: a subset of gitignore's.
//
// A pattern is matched against the path of an entry below the directory that was given to the walk.
//
//     *  ?  [a-z]  [!a-z]  \x   as in fnmatch(3), byte by byte; none of them matches a slash; a leading dot is no
//                               exception
//     name       an entry of that name at any depth
//     /name      only at the top, as with any pattern that has a slash anywhere but at its end: "a/b" is "/a/b"
//     name/      only a directory
//     **/name    at any depth
//     a/**/b     b in a, or in any directory below it
//     a/**       everything in a, but not a itself
//
// There is no negation: a pattern that begins with '!' is refused. A name that does is written "\!name".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/status.h>

namespace cutpoint {

class path_pattern {
 public:
  /// Errors: invalid_argument, for a pattern that is empty, only slashes or begins with '!', and for one that can match
  /// nothing, because a name in it is empty, "." or "..".
  [[nodiscard]] static result<path_pattern> make(std::string_view text);

  /// `path` has no slash at either end. What lies in a directory that matches need not match.
  [[nodiscard]] bool matches(std::string_view path, bool is_directory) const;

 private:
  std::vector<std::string> names_;  ///< between the slashes; "**" is any number of names
  bool is_for_directories_ = false;
};

}  // namespace cutpoint
