// Context files, read by toml++.
#include <algorithm>
#include <array>
#include <utility>

#include <cutpoint/catalog.h>
#include <cutpoint/chunk_sizes.h>
#include <cutpoint/context_file.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace cutpoint {

namespace {

constexpr std::string_view prune_name = "prune";

/// The size of chunks by `algorithm = "whole"`: most files are shorter, and a store reads longer chunks slowly.
constexpr std::string_view usual_whole_size = "8M";

constexpr std::array<std::string_view, 7> class_keys = {
    "extensions", "compression_level", "algorithm", "profile", "cuts", "size", "parameters"};
constexpr std::span<const std::string_view> chunker_keys = std::span(class_keys).subspan(2);

status wrong(std::string message) { return {status_code::invalid_argument, std::move(message)}; }

/// A table of the file, with the name that messages begin with.
class named_table {
 public:
  named_table(std::string name, const toml::table& table) : name_(std::move(name)), table_(table) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] status wrong_key(std::string_view key, std::string_view why) const {
    return wrong(fmt::format("{}: {} {}", name_, key, why));
  }
  [[nodiscard]] status named(const status& failure) const {
    return {failure.code(), fmt::format("{}: {}", name_, failure.message())};
  }

  [[nodiscard]] status check_keys(std::span<const std::string_view> known) const {
    for (const auto& [key, value] : table_) {
      if (std::ranges::find(known, key.str()) == known.end()) return named(unknown_name("key", key.str(), known));
    }
    return {};
  }

  [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }

  [[nodiscard]] result<std::optional<std::string>> text(std::string_view key) const {
    const toml::node* const value = table_.get(key);
    if (value == nullptr) return std::optional<std::string>();
    if (const auto* const words = value->as_string()) return std::optional(words->get());
    return wrong_key(key, "must be a text in quotation marks");
  }

  [[nodiscard]] result<std::vector<std::string>> texts(std::string_view key) const {
    const toml::node* const value = table_.get(key);
    const toml::array* const list = value == nullptr ? nullptr : value->as_array();
    if (list == nullptr) return wrong_key(key, "must be a list of texts, such as [\"mp4\", \"tar.gz\"]");
    std::vector<std::string> words;
    for (const toml::node& each : *list) {
      if (!each.is_string()) return wrong_key(key, "must be a list of texts, such as [\"mp4\", \"tar.gz\"]");
      words.push_back(each.as_string()->get());
    }
    return words;
  }

  [[nodiscard]] result<std::optional<int>> level(std::string_view key) const {
    const toml::node* const value = table_.get(key);
    if (value == nullptr) return std::optional<int>();
    const auto* const number = value->as_integer();
    if (number == nullptr || number->get() < 0 || number->get() > highest_compression_level)
      return wrong_key(key, fmt::format("must be a number from 0 to {}", highest_compression_level));
    return std::optional(static_cast<int>(number->get()));
  }

  /// The parameters of the algorithm, by names.
  [[nodiscard]] result<std::vector<parameter_setting>> settings(std::string_view key) const {
    std::vector<parameter_setting> settings;
    const toml::node* const value = table_.get(key);
    if (value == nullptr) return settings;
    const toml::table* const pairs = value->as_table();
    if (pairs == nullptr) return wrong_key(key, "must be a table, such as { window_bytes = 48 }");
    for (const auto& [name, each] : *pairs) {
      if (const auto* const number = each.as_integer()) {
        settings.push_back({std::string(name.str()), fmt::format("{}", number->get())});
      } else if (const auto* const words = each.as_string()) {
        settings.push_back({std::string(name.str()), words->get()});
      } else {
        return wrong_key(key, fmt::format("gives {} neither a number nor a text", name.str()));
      }
    }
    return settings;
  }

 private:
  std::string name_;
  const toml::table& table_;
};

/// Returns the key if an algorithm or a profile takes one.
std::optional<secret_key> key_for(std::string_view name, const std::optional<secret_key>& secret) {
  const auto entry = find_entry(name);
  return entry && takes_secret_key((*entry)->defaults) ? secret : std::nullopt;
}

/// Makes the chunker that a table names by one of `algorithm`, `profile` and `cuts`.
result<named_chunker> chunker_of(const named_table& table, const std::optional<secret_key>& secret) {
  constexpr std::array<std::string_view, 3> kinds = {"algorithm", "profile", "cuts"};
  const auto named = std::ranges::count_if(kinds, [&](std::string_view key) { return table.has(key); });
  if (named != 1) return wrong(fmt::format("{}: must have one of algorithm, profile and cuts", table.name()));
  const std::string_view kind = *std::ranges::find_if(kinds, [&](std::string_view key) { return table.has(key); });
  CUTPOINT_TRY(const auto name, table.text(kind));
  CUTPOINT_TRY(const auto size, table.text("size"));
  CUTPOINT_TRY(auto settings, table.settings("parameters"));
  if (kind == "cuts") {
    if (size || !settings.empty())
      return table.wrong_key("cuts", "names every parameter: no size and no parameters can be given with it");
    auto cuts = parse_canonical(*name, key_for(name->substr(0, name->find('(')), secret));
    if (!cuts) return table.named(cuts.error());
    return named_chunker{*std::move(cuts), {}};
  }
  const bool is_whole = kind == "algorithm" && *name == "whole";
  if (size || is_whole) {
    const auto sizes = size_settings(size.value_or(std::string(usual_whole_size)));
    if (!sizes) return table.wrong_key("size", sizes.error().message());
    settings.insert(settings.end(), sizes->begin(), sizes->end());
  }
  const std::string entry_name = is_whole ? "fixed" : *name;
  const auto entry = find_entry(entry_name);
  if (!entry) return table.named(entry.error());
  const bool is_algorithm = (*entry)->kind == entry_kind::algorithm;
  if (is_algorithm != (kind == "algorithm"))
    return table.wrong_key(kind, fmt::format("'{}' is {}", *name, is_algorithm ? "an algorithm" : "a profile"));
  auto cuts = make_chunker(entry_name, settings, key_for(entry_name, secret));
  return cuts ? cuts : table.named(cuts.error());
}

result<toml::table> parse_toml(std::string_view text) {
  toml::parse_result parsed = toml::parse(text);
  if (parsed) return std::move(parsed).table();
  const toml::source_position where = parsed.error().source().begin;
  return wrong(fmt::format("line {}, column {}: {}", where.line, where.column, parsed.error().description()));
}

void add_warnings(const named_table& table, const named_chunker& cuts, std::vector<std::string>& warnings) {
  for (const std::string& warning : cuts.warnings) warnings.push_back(fmt::format("{}: {}", table.name(), warning));
}

std::string quoted_list(std::span<const std::string> texts) {
  std::string list;
  for (const std::string& each : texts) list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", each);
  return list;
}

}  // namespace

result<context_file> parse_context_file(std::string_view text, const std::optional<secret_key>& key) {
  if (text.size() > longest_context_file) {
    return wrong(fmt::format("the text of {} bytes is too long: a context file has at most {}", text.size(),
                             longest_context_file));
  }
  CUTPOINT_TRY(const auto content, parse_toml(text));
  constexpr std::array<std::string_view, 2> tables = {"class", other_files};
  CUTPOINT_RETURN_IF_FAILED(named_table("the file", content).check_keys(tables));
  context_file file;
  if (const toml::node* const others = content.get(other_files)) {
    if (!others->is_table()) return wrong("others: must be a table");
    const named_table table(std::string(other_files), *others->as_table());
    CUTPOINT_RETURN_IF_FAILED(table.check_keys(chunker_keys));
    CUTPOINT_TRY(const auto cuts, chunker_of(table, key));
    add_warnings(table, cuts, file.warnings);
    file.others = cuts.chunker;
  }
  std::vector<context_rule> rules;
  const toml::node* const classes = content.get("class");
  if (classes != nullptr && !classes->is_table())
    return wrong("class: must be a table for each class, such as [class.pictures]");
  for (const auto& [name, node] : classes != nullptr ? *classes->as_table() : toml::table()) {
    if (!node.is_table()) return wrong(fmt::format("class.{}: must be a table", name.str()));
    const named_table table(fmt::format("class.{}", name.str()), *node.as_table());
    CUTPOINT_RETURN_IF_FAILED(table.check_keys(class_keys));
    CUTPOINT_TRY(auto extensions, table.texts("extensions"));
    CUTPOINT_TRY(const auto level, table.level("compression_level"));
    CUTPOINT_TRY(const auto cuts, chunker_of(table, key));
    add_warnings(table, cuts, file.warnings);
    rules.push_back({.name = std::string(name.str()),
                     .extensions = std::move(extensions),
                     .cuts = cuts.chunker,
                     .compression_level = level});
  }
  CUTPOINT_TRY(file.rules, chunking_context::make(std::move(rules)));
  return file;
}

std::vector<std::string_view> context_names() { return {prune_name}; }

result<context_file> parse_context(std::string_view name_or_text) {
  if (name_or_text == prune_name) return context_file{.rules = prune_context()};
  return parse_context_file(name_or_text);
}

std::string to_toml(const context_file& content) {
  std::string text;
  if (content.others) text += fmt::format("[{}]\ncuts = \"{}\"\n", other_files, content.others->canonical());
  for (const context_rule& rule : content.rules.rules()) {
    text += fmt::format("{}[class.{}]\nextensions = [{}]\ncuts = \"{}\"\n", text.empty() ? "" : "\n", rule.name,
                        quoted_list(rule.extensions), rule.cuts.canonical());
    if (rule.compression_level) text += fmt::format("compression_level = {}\n", *rule.compression_level);
  }
  return text;
}

}  // namespace cutpoint
