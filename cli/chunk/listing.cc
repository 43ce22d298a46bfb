#include "cli/chunk/listing.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <string_view>
#include <utility>

#include <cutpoint/text.h>
#include <fmt/format.h>

#include "cli/common/json.h"

namespace cutpoint::cli {

// --- Reading ---------------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t block_bytes = 256 * KiB;

/// Longer than any line of a listing: a path has at most 4096 bytes, each shown as at most six characters.
constexpr std::size_t longest_line = 1 * MiB;

constexpr std::string_view text_beginning = "# cuts ";

std::optional<std::uint64_t> number_of(std::string_view digits) {
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

/// Returns the bytes of hexadecimal digits, or nullopt if they are malformed.
std::optional<std::string> bytes_of_hex(std::string_view hex) {
  std::string bytes(hex.size() / 2, '\0');
  const std::span writable(reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size());
  return read_hex(hex, writable) ? std::optional(std::move(bytes)) : std::nullopt;
}

/// Returns the path that the text format shows as `shown`: a doubled backslash is one, and \\xHH is a byte.
std::optional<std::string> path_of_text(std::string_view shown) {
  std::string path;
  while (!shown.empty()) {
    const bool is_byte = shown.starts_with("\\x");
    if (!is_byte && shown.front() == '\\' && !shown.starts_with("\\\\")) return std::nullopt;
    const auto byte = is_byte ? bytes_of_hex(shown.substr(2, 2)) : std::string(1, shown.front());
    if (!byte || byte->size() != 1) return std::nullopt;
    path += *byte;
    shown.remove_prefix(is_byte ? 4 : shown.front() == '\\' ? 2 : 1);
  }
  return path;
}

// What a line contains: a chunk, nothing that matters, or nothing that a listing has.
enum class line_kind { chunk, other, malformed };

line_kind read_text(std::string_view line, listed_chunk& read) {
  if (line.starts_with('#')) return line_kind::other;
  const auto offset = number_of(next_field(line, ' '));
  const auto length = number_of(next_field(line, ' '));
  const std::string_view hex = next_field(line, ' ');
  auto path = path_of_text(line);
  if (!offset || !length || hex.empty() || !path || path->empty()) return line_kind::malformed;
  read = {*std::move(path), {*offset, *length}, hex == "-" ? std::string() : std::string(hex)};
  return line_kind::chunk;
}

std::optional<std::string> text_of(const json& record, const char* key) {
  const json* const value = record.find(key);
  if (value == nullptr || value->text() == nullptr) return std::nullopt;
  return *value->text();
}

std::optional<std::uint64_t> number_of(const json& record, const char* key) {
  const json* const value = record.find(key);
  return value != nullptr ? value->unsigned_number() : std::nullopt;
}

line_kind read_jsonl(std::string_view line, listed_chunk& read) {
  const json record = parse_json(line).value_or(json());
  auto path = text_of(record, "path");
  if (const auto hex = text_of(record, "path_hex")) path = bytes_of_hex(*hex);
  if (!path) return line_kind::malformed;
  if (record.find("error") != nullptr) return line_kind::other;
  const auto offset = number_of(record, "offset");
  const auto length = number_of(record, "length");
  if (!offset || !length) return line_kind::malformed;
  read = {*std::move(path), {*offset, *length}, text_of(record, "digest").value_or("")};
  return line_kind::chunk;
}

}  // namespace

class listing_reader::listing_parser {
 public:
  listing_parser(std::string file, file_source source) : file_(std::move(file)), source_(std::move(source)) {}

  status read_header() {
    CUTPOINT_TRY(const auto first, next_line());
    if (!first) return refused();
    if (first->starts_with(text_beginning)) return read_text_header(std::string(*first));
    const json record = parse_json(*first).value_or(json());
    const auto cuts_text = text_of(record, "cuts");
    const auto fingerprint_text = text_of(record, "fingerprint");
    if (!cuts_text || !fingerprint_text) return refused();
    cuts = *cuts_text;
    fingerprint = *fingerprint_text;
    return {};
  }

  result<std::optional<listed_chunk>> next() {
    for (listed_chunk read;;) {
      CUTPOINT_TRY(const auto line, next_line());
      if (!line) return std::optional<listed_chunk>();
      switch (is_text_ ? read_text(*line, read) : read_jsonl(*line, read)) {
        case line_kind::chunk:
          return std::optional(std::move(read));
        case line_kind::other:
          continue;
        case line_kind::malformed:
          return refused();
      }
    }
  }

  std::string cuts;
  std::string fingerprint;

 private:
  [[nodiscard]] status refused() const {
    return {status_code::invalid_argument,
            line_number_ == 0
                ? fmt::format("{}: is empty, and no listing of 'cutpoint chunk'", file_)
                : fmt::format("{}, line {}: is no line of a listing of 'cutpoint chunk' in the format text or jsonl",
                              file_, line_number_)};
  }

  status read_text_header(std::string_view first) {
    constexpr std::string_view columns_begin = "# offset length ";
    constexpr std::string_view columns_end = " path";
    cuts = first.substr(text_beginning.size());
    CUTPOINT_TRY(const auto second, next_line());
    const std::string_view columns = second.value_or("");
    const std::size_t around = columns_begin.size() + columns_end.size();
    if (columns.size() <= around || !columns.starts_with(columns_begin) || !columns.ends_with(columns_end)) {
      return refused();
    }
    fingerprint = columns.substr(columns_begin.size(), columns.size() - around);
    is_text_ = true;
    return {};
  }

  /// Returns the next line without its end, or nullopt at the end of the file. A line that is too long for a listing is
  /// split. The result is valid until the next call. Errors: those of the source.
  result<std::optional<std::string_view>> next_line() {
    std::size_t searched = begin_;
    for (;;) {
      const std::size_t end = text_.find('\n', searched);
      if (end != std::string::npos) return line_until(end, end + 1);
      searched = text_.size();
      if (is_at_end_ || searched - begin_ > longest_line) break;
      text_.erase(0, begin_);
      searched -= std::exchange(begin_, 0);
      CUTPOINT_RETURN_IF_FAILED(fill());
    }
    if (begin_ == text_.size()) return std::optional<std::string_view>();
    return line_until(text_.size(), text_.size());
  }

  std::optional<std::string_view> line_until(std::size_t end, std::size_t next_begin) {
    ++line_number_;
    const std::size_t begin = std::exchange(begin_, next_begin);
    return std::string_view(text_).substr(begin, end - begin);
  }

  status fill() {
    const std::size_t old_size = text_.size();
    text_.resize(old_size + block_bytes);
    const auto count = source_.read({reinterpret_cast<std::uint8_t*>(text_.data()) + old_size, block_bytes});
    text_.resize(old_size + (count ? *count : 0));
    if (!count) return count.error();
    is_at_end_ = *count == 0;
    return {};
  }

  std::string file_;
  file_source source_;
  bool is_text_ = false;  ///< else it is jsonl
  std::string text_;
  std::size_t begin_ = 0;  ///< of the next line
  std::uint64_t line_number_ = 0;
  bool is_at_end_ = false;
};

listing_reader::listing_reader(std::unique_ptr<listing_parser> state) noexcept : implementation_(std::move(state)) {}
listing_reader::listing_reader(listing_reader&&) noexcept = default;
listing_reader::~listing_reader() = default;

result<listing_reader> listing_reader::open(const std::string& file, const cancellation* cancel) {
  CUTPOINT_TRY(auto source, file_source::open(file, cancel));
  auto state = std::make_unique<listing_parser>(file, std::move(source));
  CUTPOINT_RETURN_IF_FAILED(state->read_header());
  return listing_reader(std::move(state));
}

const std::string& listing_reader::cuts() const { return implementation_->cuts; }
const std::string& listing_reader::fingerprint() const { return implementation_->fingerprint; }
result<std::optional<listed_chunk>> listing_reader::next() { return implementation_->next(); }

result<std::vector<std::string>> listed_paths(const std::string& file, const cancellation* cancel) {
  CUTPOINT_TRY(auto listing, listing_reader::open(file, cancel));
  std::vector<std::string> paths;
  for (;;) {
    CUTPOINT_TRY(auto next, listing.next());
    if (!next) return paths;
    if (next->where.offset == 0 || paths.empty() || paths.back() != next->path) {
      paths.push_back(std::move(next->path));
    }
  }
}

// --- Comparing -------------------------------------------------------------------------------------------------------

// The chunks of the listing are consumed as the chunks of the inputs are delivered.

status listing_checker::advance() {
  CUTPOINT_TRY(next_, listing_.next());
  return {};
}

bool listing_checker::is_next_of_input() const {
  return next_ && next_->path == path_ && (!is_inside_ || next_->where.offset != 0);
}

status listing_checker::skip_input() {
  while (is_next_of_input()) {
    is_inside_ = true;
    CUTPOINT_RETURN_IF_FAILED(advance());
  }
  return {};
}

status listing_checker::find_input(const std::string& path) {
  while (next_ && next_->path != path) {
    path_ = next_->path;
    is_inside_ = false;
    ++missing_count_;
    say_.error(fmt::format("{}: is in the listing, but is no file here", path_));
    CUTPOINT_RETURN_IF_FAILED(skip_input());
  }
  path_ = path;
  is_inside_ = false;
  return {};
}

status listing_checker::begin_input(std::uint64_t, const std::string& path) {
  difference_.reset();
  return find_input(path);
}

status listing_checker::take_chunk(const delivered_chunk& c) {
  for (std::uint64_t i = 0; i < c.count && !difference_; ++i) {
    const chunk where{c.offset + i * c.length, c.length};
    if (!is_next_of_input() || next_->where.offset != where.offset || next_->where.length != where.length ||
        next_->digest != to_hex(c.fingerprint)) {
      difference_ = where.offset;
      break;
    }
    is_inside_ = true;
    CUTPOINT_RETURN_IF_FAILED(advance());
  }
  return {};
}

status listing_checker::end_input(std::uint64_t, const status& outcome) {
  if (!difference_ && is_next_of_input()) difference_ = next_->where.offset;
  CUTPOINT_RETURN_IF_FAILED(skip_input());
  count_ = !outcome.ok() ? nullptr : difference_ ? &different_count_ : &equal_count_;
  has_ended_ = true;
  if (!outcome.ok()) return {};
  ++*count_;
  if (difference_) {
    say_.error(fmt::format("{}: differs from the listing in the chunk at byte {}", path_, *difference_));
  } else {
    say_.note(fmt::format("{}: is equal", path_));
  }
  return {};
}

status listing_checker::input_failed(const std::string& path, const status& why) {
  say_.error(why.message());
  if (std::exchange(has_ended_, false) && path == path_) {  // it failed while it was read, or changed meanwhile
    if (count_ != nullptr) --*count_;
    return {};
  }
  CUTPOINT_RETURN_IF_FAILED(find_input(path));
  return skip_input();
}

status listing_checker::finish() {
  while (next_) CUTPOINT_RETURN_IF_FAILED(find_input({}));
  return {};
}

std::string listing_checker::summary() const {
  return fmt::format("{} equal, {} different, {} missing or failed\n", equal_count_, different_count_,
                     missing_count_ + failed_count());
}

}  // namespace cutpoint::cli
