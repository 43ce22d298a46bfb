// A class for each format that names the cuts once and the input on every line.
#include "cli/chunk/old_listing.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/chunk/format.h"
#include "cli/common/console.h"

namespace cutpoint::cli {

namespace {

constexpr std::size_t block_bytes = 256 * KiB;

/// Longer than any line of a listing: a path has at most 4096 bytes, each shown as at most six characters.
constexpr std::size_t longest_line = 1 * MiB;

struct listed_chunk {
  chunk where;
  std::string digest;  ///< in hexadecimal
};

struct listed_header {
  std::string cuts;
  std::string fingerprint;
};

/// Parses the lines of a listing. Returns nullopt for a line that has another format.
class listing_format {
 public:
  virtual ~listing_format() = default;

  [[nodiscard]] virtual std::size_t header_lines() const = 0;
  [[nodiscard]] virtual std::optional<listed_header> header(std::string_view lines) const = 0;

  /// The contents of a line: a chunk or the failure of the input, something of another input, or malformed.
  enum class line_kind { chunk, failure, another_input, malformed };
  [[nodiscard]] virtual line_kind read(std::string_view line, listed_chunk& found) const = 0;
};

std::optional<std::uint64_t> number(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// Removes the text before the next separator, and the separator, and returns the text.
std::string_view next_field(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view field = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return field;
}

class text_listing final : public listing_format {
 public:
  static constexpr std::string_view beginning = "# cuts ";

  explicit text_listing(std::string_view path)
      : path_(text_path(path)), failure_(fmt::format("# failed: {}:", printable(path))) {}

  std::size_t header_lines() const override { return 2; }
  std::optional<listed_header> header(std::string_view lines) const override {
    constexpr std::string_view columns_begin = "# offset length ";
    constexpr std::string_view columns_end = " path\n";
    const std::string_view cuts = next_field(lines, '\n').substr(beginning.size());
    if (!lines.starts_with(columns_begin) || !lines.ends_with(columns_end)) return std::nullopt;
    lines.remove_prefix(columns_begin.size());
    return listed_header{std::string(cuts), std::string(next_field(lines, ' '))};
  }
  line_kind read(std::string_view line, listed_chunk& found) const override {
    if (line.starts_with('#')) return line.starts_with(failure_) ? line_kind::failure : line_kind::another_input;
    const auto offset = number(next_field(line, ' '));
    const auto length = number(next_field(line, ' '));
    const std::string_view hex = next_field(line, ' ');
    if (!offset || !length || hex.empty()) return line_kind::malformed;
    found = {{*offset, *length}, hex == "-" ? std::string() : std::string(hex)};
    return line == path_ ? line_kind::chunk : line_kind::another_input;
  }

 private:
  std::string path_;
  std::string failure_;
};

class jsonl_listing final : public listing_format {
 public:
  static constexpr std::string_view beginning = "{";

  explicit jsonl_listing(std::string_view path) : path_(json_path(path)) {}

  std::size_t header_lines() const override { return 1; }
  std::optional<listed_header> header(std::string_view lines) const override {
    const auto record = json::parse(lines, nullptr, false);
    const auto cuts = text(record, "cuts");
    const auto fingerprint = text(record, "fingerprint");
    if (!cuts || !fingerprint) return std::nullopt;
    return listed_header{*cuts, *fingerprint};
  }
  line_kind read(std::string_view line, listed_chunk& found) const override {
    const auto record = json::parse(line, nullptr, false);
    if (!text(record, "path")) return line_kind::malformed;
    if (record.contains("error")) return is_of_input(record) ? line_kind::failure : line_kind::another_input;
    const auto offset = record.find("offset");
    const auto length = record.find("length");
    if (offset == record.end() || length == record.end()) return line_kind::malformed;
    if (!offset->is_number_unsigned() || !length->is_number_unsigned()) return line_kind::malformed;
    found = {{offset->get<std::uint64_t>(), length->get<std::uint64_t>()}, text(record, "digest").value_or("")};
    return is_of_input(record) ? line_kind::chunk : line_kind::another_input;
  }

 private:
  using json = nlohmann::json;

  static std::optional<std::string> text(const json& record, const char* key) {
    if (!record.is_object()) return std::nullopt;
    const auto found = record.find(key);
    if (found == record.end() || !found->is_string()) return std::nullopt;
    return found->get<std::string>();
  }

  /// Compares the bytes if a path is not UTF-8.
  bool is_of_input(const json& record) const {
    const char* key = path_.contains("path_hex") || record.contains("path_hex") ? "path_hex" : "path";
    return text(record, key) == text(path_, key);
  }

  json path_;
};

/// Reads a file line by line.
class line_reader {
 public:
  explicit line_reader(file_source file) : file_(std::move(file)) {}

  [[nodiscard]] std::uint64_t number() const { return number_; }

  /// Returns the next line without its end, or nullopt at the end of the file. A line that is too long for a listing is
  /// split. The result is valid until the next call. Errors: those of the source.
  result<std::optional<std::string_view>> next() {
    std::size_t searched = begin_;
    for (;;) {
      const std::size_t end = held_.find('\n', searched);
      if (end != std::string::npos) return taken(end, end + 1);
      searched = held_.size();
      if (is_at_end_ || searched - begin_ > longest_line) break;
      held_.erase(0, begin_);
      searched -= std::exchange(begin_, 0);
      if (status filled = fill(); !filled.ok()) return filled;
    }
    if (begin_ == held_.size()) return std::optional<std::string_view>();
    return taken(held_.size(), held_.size());
  }

 private:
  std::optional<std::string_view> taken(std::size_t end, std::size_t next_begin) {
    ++number_;
    const std::size_t begin = std::exchange(begin_, next_begin);
    return std::string_view(held_).substr(begin, end - begin);
  }

  status fill() {
    const std::size_t held_bytes = held_.size();
    held_.resize(held_bytes + block_bytes);
    const auto count = file_.read({reinterpret_cast<std::uint8_t*>(held_.data()) + held_bytes, block_bytes});
    held_.resize(held_bytes + (count ? *count : 0));
    if (!count) return count.error();
    is_at_end_ = *count == 0;
    return {};
  }

  file_source file_;
  std::string held_;
  std::size_t begin_ = 0;  ///< of the next line
  std::uint64_t number_ = 0;
  bool is_at_end_ = false;
};

std::optional<digest> parse_digest(std::string_view hex) {
  digest parsed;
  if (hex.size() % 2 != 0 || hex.size() / 2 > parsed.bytes.size()) return std::nullopt;
  for (; !hex.empty(); hex.remove_prefix(2)) {
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + 2, parsed.bytes[parsed.size], 16);
    if (error != std::errc() || end != hex.data() + 2) return std::nullopt;
    ++parsed.size;
  }
  return parsed;
}

std::size_t digest_bytes(fingerprint_kind kind) {
  return std::find_if(fingerprints().begin(), fingerprints().end(), [&](const auto& info) { return info.kind == kind; })
      ->digest_bytes;
}

/// Returns the recipe of a listing's digests. Errors: unknown_name; invalid_argument.
result<fingerprint_recipe> recipe_of(const std::string& name, const std::optional<fingerprint_key>& key) {
  if (name == keyed_name) {
    if (key) return fingerprint_recipe(fingerprint_kind::blake3, key);
    return status(status_code::invalid_argument, "the fingerprints were made with a key: give it by --hash-key");
  }
  const auto kind = parse_fingerprint(name);
  if (!kind) return kind.error();
  if (!key) return fingerprint_recipe(*kind);
  return status(status_code::invalid_argument, fmt::format("the fingerprints are {}, made without --hash-key", name));
}

std::unique_ptr<listing_format> format_of(std::string_view first_line, std::string_view path) {
  if (first_line.starts_with(text_listing::beginning)) return std::make_unique<text_listing>(path);
  if (first_line.starts_with(jsonl_listing::beginning)) return std::make_unique<jsonl_listing>(path);
  return nullptr;
}

}  // namespace

result<old_listing> read_listing(const std::string& file, const std::string& path,
                                 const std::optional<fingerprint_key>& key, const cancellation* cancel) {
  auto opened = file_source::open(file, cancel);
  if (!opened) return opened.error();
  line_reader lines(*std::move(opened));
  const auto wrong = [&](std::string_view why) {
    return status(status_code::invalid_argument, fmt::format("{}, line {}: {}", file, lines.number(), why));
  };
  constexpr std::string_view no_listing = "is no line of a listing of 'cutpoint chunk' in the format text or jsonl";

  std::unique_ptr<listing_format> format;
  std::string head;
  for (std::size_t i = 0; format == nullptr || i < format->header_lines(); ++i) {
    const auto line = lines.next();
    if (!line) return line.error();
    if (!*line) return wrong(no_listing);
    if (format == nullptr) format = format_of(**line, path);
    if (format == nullptr) return wrong(no_listing);
    head += **line;
    head += '\n';
  }
  const auto header = format->header(head);
  if (!header) return wrong(no_listing);
  const auto recipe = recipe_of(header->fingerprint, key);
  if (!recipe) return wrong(recipe.error().message());

  old_listing listing{.cuts = header->cuts, .fingerprint = *recipe, .chunks = {}, .digests = {}};
  for (;;) {
    const auto line = lines.next();
    if (!line) return line.error();
    if (!*line) break;
    listed_chunk found;
    const auto told = format->read(**line, found);
    if (told == listing_format::line_kind::malformed) return wrong(no_listing);
    if (told == listing_format::line_kind::failure) return wrong(fmt::format("says that '{}' failed", path));
    if (told != listing_format::line_kind::chunk) continue;
    const auto parsed = parse_digest(found.digest);
    if (!parsed || parsed->size != digest_bytes(recipe->kind)) {
      return wrong(fmt::format("'{}' is no digest of {}", found.digest, header->fingerprint));
    }
    listing.chunks.push_back(found.where);
    listing.digests.push_back(*parsed);
  }
  return listing;
}

}  // namespace cutpoint::cli
