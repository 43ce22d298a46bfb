#include "host/io/entry_filter.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cutpoint {

namespace {

constexpr std::string_view cache_header = "Signature: 8a477f597d28d172789f06886806bc55";

/// Returns whether a directory has a regular file that begins with the header of the tag.
bool has_header(int directory, const directory_tag& tag) {
  constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const int file = ::openat(directory, tag.name.c_str(), flags);
  if (file < 0) return false;
  std::string begin(tag.header.size(), '\0');
  struct stat facts = {};
  const bool is_same = ::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) &&
                       ::read(file, begin.data(), begin.size()) == static_cast<ssize_t>(begin.size()) &&
                       begin == tag.header;
  ::close(file);
  return is_same;
}

std::string absolute_of(const std::string& path) {
  std::error_code unknown;
  std::string absolute = std::filesystem::absolute(path, unknown).lexically_normal();
  if (unknown) return {};
  if (!absolute.ends_with('/')) absolute += '/';
  return absolute.substr(1);
}

}  // namespace

entry_filter::entry_filter(const walk_options& options, const walk_callbacks& callbacks, const std::string& given_path)
    : options_(options),
      callbacks_(callbacks),
      exclude_(options.exclude, options.exclude.empty() ? std::string() : absolute_of(given_path)),
      include_(options.include, options.include.empty() ? std::string() : absolute_of(given_path)) {}

bool entry_filter::is_excluded(std::string_view path, bool is_directory) {
  return exclude_.matches(path, is_directory, callbacks_.matched);
}

bool entry_filter::is_included(std::string_view path, bool is_directory) {
  return include_.is_empty() || include_.matches(path, is_directory);
}

std::optional<omission> entry_filter::why_left_out(const tree_entry& entry) const {
  if (!options_.exclude_files.is_empty() && options_.exclude_files.contains(entry)) return omission::file;
  if (entry.kind == file_kind::regular_file && entry.size > options_.largest_file_bytes) return omission::size;
  return std::nullopt;
}

std::optional<entry_filter::tag_match> entry_filter::find_tag(int directory,
                                                              const std::vector<std::string>& names) const {
  const auto has = [&](const directory_tag& tag) {
    return std::binary_search(names.begin(), names.end(), tag.name) &&
           (tag.header.empty() || has_header(directory, tag));
  };
  const directory_tag cache_tag = {.name = "CACHEDIR.TAG", .header = std::string(cache_header)};
  if (options_.exclude_caches && has(cache_tag)) return tag_match{omission::cache, cache_tag.name};
  const auto tag = std::find_if(options_.exclude_tagged.begin(), options_.exclude_tagged.end(), has);
  if (tag == options_.exclude_tagged.end()) return std::nullopt;
  return tag_match{omission::tag, tag->name};
}

}  // namespace cutpoint
