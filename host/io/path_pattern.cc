// Patterns of paths, and the filter of a walk's entries. A pattern is matched name by name with fnmatch, "**" by backtracking to the last one.
#include <algorithm>
#include <cerrno>
#include <clocale>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include <cutpoint/path_pattern.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/io/entry_filter.h"

namespace cutpoint {

namespace {

constexpr std::string_view any_names = "**";

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> names;
  for (;;) {
    const std::size_t slash = path.find('/');
    names.emplace_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return names;
    path.remove_prefix(slash + 1);
  }
}

/// Sets a locale for this thread in which fnmatch compares bytes, and restores the previous one when it is destroyed.
class byte_locale {
 public:
  byte_locale() : before_(::uselocale(bytes())) {}
  byte_locale(const byte_locale&) = delete;
  byte_locale& operator=(const byte_locale&) = delete;
  ~byte_locale() { ::uselocale(before_); }

 private:
  static locale_t bytes() {
    static const locale_t locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
    return locale;
  }

  locale_t before_;
};

bool is_match(const std::string& pattern, const std::string& name, int flags) {
  return ::fnmatch(pattern.c_str(), name.c_str(), flags) == 0;
}

}  // namespace

result<path_pattern> path_pattern::make(std::string_view text, letter_case letters) {
  const auto refused = [&](std::string_view why) {
    return status(status_code::invalid_argument, fmt::format("{}: {}", text, why));
  };
  if (text.find('\0') != std::string_view::npos) return refused("no name has a zero byte");
  path_pattern pattern;
  pattern.text_ = text;
  pattern.flags_ = letters == letter_case::ignored ? FNM_CASEFOLD : 0;
  pattern.is_negated_ = text.starts_with('!');
  std::string_view rest = text.substr(pattern.is_negated_ ? 1 : 0);
  pattern.is_for_directories_ = rest.ends_with('/');
  if (pattern.is_for_directories_) rest.remove_suffix(1);
  const bool has_slash = rest.find('/') != std::string_view::npos;
  pattern.begins_with_slash_ = rest.starts_with('/');
  if (pattern.begins_with_slash_) rest.remove_prefix(1);
  if (rest.empty()) return refused("a pattern needs a name");
  pattern.names_ = split(rest);
  for (const std::string& name : pattern.names_) {
    if (name.empty() || name == "." || name == "..") {
      return refused(fmt::format("'{}' is no name below the directory that is walked", name));
    }
  }
  if (!has_slash && pattern.names_.front() != any_names)
    pattern.names_.insert(pattern.names_.begin(), std::string(any_names));
  return pattern;
}

bool path_pattern::matches(std::string_view path, bool is_directory) const {
  if (is_for_directories_ && !is_directory) return false;
  const byte_locale bytes;
  const bool is_last_fixed = names_.back() != any_names;
  if (is_last_fixed && !is_match(names_.back(), std::string(path.substr(path.rfind('/') + 1)), flags_)) return false;
  const std::vector<std::string> entry = split(path);
  std::size_t next = 0;  // index in the pattern's names
  std::size_t last_any = names_.size();
  std::size_t resumed = 0;  // index of the entry's name after those that the last "**" matches
  for (std::size_t i = 0; i < entry.size();) {
    if (next < names_.size() && names_[next] == any_names) {
      last_any = next++;
      resumed = i;
      if (next == names_.size()) return true;
    } else if (next < names_.size() && is_match(names_[next], entry[i], flags_)) {
      ++next;
      ++i;
    } else if (last_any < names_.size()) {
      next = last_any + 1;
      i = ++resumed;
    } else {
      return false;
    }
  }
  return next == names_.size();
}

bool path_pattern::matches_absolute(std::string_view path, bool is_directory) const {
  return begins_with_slash_ && path.substr(0, path.find('/')) == names_.front() && matches(path, is_directory);
}

/// Patterns that have not matched anything yet are tried when the decision is made, too.
bool pattern_list::matches(std::string_view path, bool is_directory,
                           const std::function<void(std::size_t pattern)>& matched) {
  std::optional<bool> decision;
  for (std::size_t i = patterns_.size(); i-- > 0;) {
    if (decision && has_matched_[i]) continue;
    const path_pattern& each = patterns_[i];
    if (!each.matches(path, is_directory) && (above_.empty() || !each.begins_with_slash() ||
                                              !each.matches_absolute(above_ + std::string(path), is_directory))) {
      continue;
    }
    if (!decision) decision = !each.is_negated();
    if (!has_matched_[i] && matched) matched(i);
    has_matched_[i] = true;
  }
  return decision.value_or(false);
}

void pattern_list::visit_unmatched(
    const std::function<void(const path_pattern& pattern, const status& why)>& visit) const {
  for (std::size_t i = 0; i < patterns_.size(); ++i) {
    if (has_matched_[i]) continue;
    const std::string& text = patterns_[i].text();
    visit(patterns_[i], {status_code::io_error, text + ": this pattern matched nothing", ENOENT});
  }
}

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
                                                              const std::vector<folder_name>& names) const {
  const auto has = [&](const directory_tag& tag) {
    return std::ranges::binary_search(names, tag.name, {}, &folder_name::name) &&
           (tag.header.empty() || has_header(directory, tag));
  };
  const directory_tag cache_tag = {.name = "CACHEDIR.TAG", .header = std::string(cache_header)};
  if (options_.exclude_caches && has(cache_tag)) return tag_match{omission::cache, cache_tag.name};
  const auto tag = std::find_if(options_.exclude_tagged.begin(), options_.exclude_tagged.end(), has);
  if (tag == options_.exclude_tagged.end()) return std::nullopt;
  return tag_match{omission::tag, tag->name};
}

}  // namespace cutpoint
