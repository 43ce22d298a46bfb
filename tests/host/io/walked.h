// The record of a walk, and the function that makes it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <cutpoint/walk.h>

namespace cutpoint::tests {

/// What a walk yielded, in order. Paths lack the prefix `root`.
struct walked {
  status outcome;
  std::vector<std::string> files;  ///< entries that are readable streams
  std::vector<std::string> directories;
  std::vector<std::string> others;    ///< "PATH: KIND"
  std::vector<std::string> all;       ///< the paths of all these
  std::vector<std::string> left_out;  ///< "PATH: WHY"
  std::vector<std::size_t> matched;   ///< patterns
  std::vector<std::string> problem_paths;
  std::vector<std::string> problems;  ///< messages
  std::vector<int> errors;            ///< errno of each problem
  std::vector<tree_entry> entries;
};

inline std::vector<path_pattern> patterns_of(const std::vector<std::string>& texts) {
  std::vector<path_pattern> patterns;
  for (const std::string& each : texts) patterns.push_back(*path_pattern::make(each));
  return patterns;
}

/// Walks a tree. `at_entry` is called after each entry is recorded and may end the walk.
inline walked walk_all(const std::string& root, const std::string& path, const walk_options& options = {},
                       const std::function<status(const tree_entry&)>& at_entry = {},
                       const cancellation* cancel = nullptr) {
  const auto below = [&](std::string text) {
    for (std::size_t at = 0; !root.empty() && (at = text.find(root + '/', at)) != std::string::npos;) {
      text.erase(at, root.size() + 1);
    }
    return text;
  };
  walked tree;
  tree.outcome =
      walk(path, options,
           {.entry = [&](const tree_entry& entry) -> status {
              const std::string name = below(entry.path);
              tree.all.push_back(name);
              tree.entries.push_back(entry);
              if (entry.is_readable_stream()) {
                tree.files.push_back(name);
              } else if (entry.kind == file_kind::directory) {
                tree.directories.push_back(name);
              } else {
                tree.others.push_back(name + ": " + std::string(to_string(entry.kind)));
              }
              return at_entry ? at_entry(entry) : status();
            },
            .problem = [&](const std::string& file, const status& why) -> status {
              tree.problem_paths.push_back(below(file));
              tree.problems.push_back(below(why.message()));
              tree.errors.push_back(why.system_error());
              return {};
            },
            .left_out =
                [&](const std::string& file, omission why) {
                  constexpr std::string_view reasons[] = {"pattern", "file_system", "cache", "tag", "size", "file"};
                  tree.left_out.push_back(below(file) + ": " + std::string(reasons[static_cast<int>(why)]));
                },
            .matched = [&](std::size_t pattern) { tree.matched.push_back(pattern); }},
           cancel);
  return tree;
}

}  // namespace cutpoint::tests
