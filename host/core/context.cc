// Contexts: their checks, their canonical text, and the search for a file's rule.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <cutpoint/catalog.h>
#include <cutpoint/context.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

namespace cutpoint {

namespace {

constexpr std::size_t most_rules = 255;
constexpr std::size_t longest_name = 64;

/// PRUNE section 4.3: multimedia contents, then compressed files.
constexpr std::array<std::string_view, 14> immutable_extensions = {"avi",    "wmv", "mkv", "mp3", "mp4", "jpg", "png",
                                                                   "tar.gz", "tgz", "zip", "rar", "lzh", "alz", "bzip"};

status refused_context(std::string message) { return {status_code::invalid_argument, std::move(message)}; }

bool is_lower_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

status check_name(const std::string& name) {
  const bool has_form =
      !name.empty() && name.size() <= longest_name && is_lower_letter(name[0]) &&
      std::ranges::all_of(name, [](char c) { return is_lower_letter(c) || is_digit(c) || c == '-' || c == '_'; });
  if (!has_form) {
    return refused_context(
        fmt::format("class '{}': a name must have 1 to {} lower-case letters, digits, - and _, the first a letter",
                    name, longest_name));
  }
  if (name == other_files)
    return refused_context(fmt::format("class '{}': the name is that of all files without a rule", name));
  return {};
}

status check_extension(const std::string& extension) {
  const auto is_excluded = [](char c) {
    return c <= ' ' || c > '~' || std::string_view("/,;\"'\\").find(c) != std::string_view::npos;
  };
  const bool has_form = !extension.empty() && extension.size() <= longest_name && extension.front() != '.' &&
                        extension.back() != '.' && std::ranges::none_of(extension, is_excluded) &&
                        lower_case(extension) == extension;
  if (has_form) return {};
  return refused_context(
      fmt::format("extension '{}': must have 1 to {} visible ASCII characters in lower case, without a dot at an end, "
                  "commas, semicolons, slashes and quotation marks, such as mp4 or tar.gz",
                  extension, longest_name));
}

std::string text_of_level(const std::optional<int>& level) {
  if (!level) return "default";
  return *level == 0 ? "none" : fmt::format("zstd-{}", *level);
}

result<std::optional<int>> level_of_text(std::string_view text) {
  if (text == "default") return std::optional<int>();
  if (text == "none") return std::optional(0);
  int level = 0;
  constexpr std::string_view prefix = "zstd-";
  const char* const end = text.data() + text.size();
  if (text.starts_with(prefix)) {
    const auto [rest, error] = std::from_chars(text.data() + prefix.size(), end, level);
    if (error == std::errc{} && rest == end && level != 0) return std::optional(level);
  }
  return refused_context(fmt::format("'{}' must be default, none or zstd-LEVEL", text));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> fields;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    fields.push_back(text.substr(begin, end - begin));
    if (end == text.size()) return fields;
    begin = end + 1;
  }
}

result<context_rule> parse_rule(std::string_view line) {
  const std::vector<std::string_view> fields = split(line, ';');
  if (fields.size() != 4) {
    return refused_context(fmt::format("'{}' is not a rule: class;extensions;cuts;compression", line));
  }
  CUTPOINT_TRY(auto cuts, parse_canonical(fields[2]));
  CUTPOINT_TRY(const auto level, level_of_text(fields[3]));
  context_rule rule{
      .name = std::string(fields[0]), .extensions = {}, .cuts = std::move(cuts), .compression_level = level};
  for (const std::string_view extension : split(fields[1], ',')) rule.extensions.emplace_back(extension);
  return rule;
}

}  // namespace

result<chunking_context> chunking_context::make(std::vector<context_rule> rules) {
  if (rules.size() > most_rules) {
    return refused_context(fmt::format("{} rules are too many: a context has at most {}", rules.size(), most_rules));
  }
  chunking_context context;
  context.rules_ = std::move(rules);
  std::ranges::sort(context.rules_, {}, &context_rule::name);
  for (std::size_t i = 0; i < context.rules_.size(); ++i) {
    context_rule& rule = context.rules_[i];
    CUTPOINT_RETURN_IF_FAILED(check_name(rule.name));
    if (i != 0 && context.rules_[i - 1].name == rule.name)
      return refused_context(fmt::format("class '{}' has two rules", rule.name));
    if (rule.extensions.empty()) return refused_context(fmt::format("class '{}' has no extensions", rule.name));
    if (rule.compression_level &&
        (*rule.compression_level < 0 || *rule.compression_level > highest_compression_level)) {
      return refused_context(fmt::format("class '{}': compression_level = {} must be 0 to {}", rule.name,
                                         *rule.compression_level, highest_compression_level));
    }
    std::ranges::sort(rule.extensions);
    for (const std::string& extension : rule.extensions) {
      CUTPOINT_RETURN_IF_FAILED(check_extension(extension));
      const auto [known, is_new] = context.rule_of_extension_.try_emplace(extension, i + 1);
      if (!is_new) {
        return refused_context(fmt::format("extension '{}' is named twice, by the classes '{}' and '{}'", extension,
                                           context.class_name(known->second), rule.name));
      }
    }
    context.canonical_ += fmt::format("{};{};{};{}\n", rule.name, fmt::join(rule.extensions, ","),
                                      rule.cuts.canonical(), text_of_level(rule.compression_level));
  }
  if (context.canonical_.size() > longest_context) {
    return refused_context(fmt::format("the rules take {} bytes as canonical text: a context has at most {}",
                                       context.canonical_.size(), longest_context));
  }
  return context;
}

result<chunking_context> chunking_context::parse(std::string_view canonical) {
  std::vector<context_rule> rules;
  if (!canonical.empty() && canonical.back() != '\n')
    return refused_context("the text of a context must end with a line's end");
  while (!canonical.empty()) {
    const std::size_t end = canonical.find('\n');
    CUTPOINT_TRY(auto rule, parse_rule(canonical.substr(0, end)));
    rules.push_back(std::move(rule));
    canonical.remove_prefix(end + 1);
  }
  return make(std::move(rules));
}

std::size_t chunking_context::rule_of(std::string_view path) const {
  if (rules_.empty()) return 0;
  const std::string name = lower_case(path.substr(path.rfind('/') + 1));
  for (std::size_t dot = name.find('.', 1); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    const auto known = rule_of_extension_.find(std::string_view(name).substr(dot + 1));
    if (known != rule_of_extension_.end()) return known->second;
  }
  return 0;
}

std::string_view chunking_context::class_name(std::size_t rule) const noexcept {
  return rule == 0 ? other_files : std::string_view(rules_[rule - 1].name);
}

std::vector<chunker> chunking_context::cuts() const {
  std::vector<chunker> chunkers;
  for (const context_rule& rule : rules_) chunkers.push_back(rule.cuts);
  return chunkers;
}

const chunking_context& prune_context() {
  static const chunking_context context = [] {
    std::vector<std::string> extensions(immutable_extensions.begin(), immutable_extensions.end());
    std::vector<context_rule> rules;
    rules.push_back({.name = "immutable",
                     .extensions = std::move(extensions),
                     .cuts = chunker::make(fixed_parameters{.avg_bytes = 8 * KiB}).value(),
                     .compression_level = 0});
    return chunking_context::make(std::move(rules)).value();
  }();
  return context;
}

}  // namespace cutpoint
