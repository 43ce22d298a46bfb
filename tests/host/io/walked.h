// A walk, written down.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/walk.h>

namespace cutpoint::tests {

/// What a walk told, in order and without the path of `root` in front.
struct walked {
  status outcome;
  std::vector<std::string> files;
  std::vector<std::string> skipped;  ///< "PATH: WHY"
  std::vector<std::string> problem_paths;
  std::vector<std::string> problems;  ///< the messages
  std::vector<int> errors;            ///< errno of each problem
};

inline walked walk_all(const std::string& root, const std::string& path, symlinks links = symlinks::skip) {
  const auto below = [&](std::string text) {
    for (std::size_t at = 0; !root.empty() && (at = text.find(root + '/', at)) != std::string::npos;) {
      text.erase(at, root.size() + 1);
    }
    return text;
  };
  walked found;
  found.outcome =
      walk(path, links,
           {.file = [&](const std::string& file) -> status {
              found.files.push_back(below(file));
              return {};
            },
            .skipped = [&](const std::string& file,
                           std::string_view why) { found.skipped.push_back(below(file) + ": " + std::string(why)); },
            .problem = [&](const std::string& file, const status& why) -> status {
              found.problem_paths.push_back(below(file));
              found.problems.push_back(below(why.message()));
              found.errors.push_back(why.system_error());
              return {};
            }});
  return found;
}

}  // namespace cutpoint::tests
