// The only source that knows the JSON library, whose headers take seconds. The library formats numbers with a fraction and text that
// is not plain, and reads.
#include "cli/common/json.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cutpoint::cli {

namespace {

using nlohmann_json = nlohmann::ordered_json;

constexpr std::size_t most_levels = 1000;

/// Returns whether text is the same in JSON but for its quotes.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char each) { return each >= ' ' && each <= '~' && each != '"' && each != '\\'; });
}

std::string dumped(const nlohmann_json& value, nlohmann_json::error_handler_t of_other_text) {
  return value.dump(-1, ' ', false, of_other_text);
}

bool is_utf8(std::string_view text) {
  if (is_plain(text)) return true;
  const nlohmann_json value(text);
  return dumped(value, nlohmann_json::error_handler_t::replace) ==
         dumped(value, nlohmann_json::error_handler_t::ignore);
}

std::string hexadecimal(std::string_view text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  return fmt::format("{:02x}", fmt::join(bytes, bytes + text.size(), ""));
}

/// Appends the elements between two brackets, each by `append`, in one line or in lines of the next level.
template <class Elements, class Append>
void append_list(std::string& out, std::string_view brackets, std::optional<std::size_t> level,
                 const Elements& elements, Append&& append) {
  out += brackets.front();
  for (const auto& each : elements) {
    if (&each != elements.data()) out += ',';
    if (level) out += '\n' + std::string(2 * (*level + 1), ' ');
    append(each, level ? std::optional(*level + 1) : std::nullopt);
  }
  if (level && !elements.empty()) out += '\n' + std::string(2 * *level, ' ');
  out += brackets.back();
}

/// Builds a value from what the library reads. A repeated key has the value that came last.
class json_builder {
 public:
  [[nodiscard]] json& built() { return whole_; }

  bool null() { return take({}); }
  bool boolean(bool value) { return take(value); }
  bool number_integer(std::int64_t number) { return take(number); }
  bool number_unsigned(std::uint64_t number) { return take(number); }
  bool number_float(double number, const std::string&) { return take(number); }
  bool string(std::string& text) { return take(std::move(text)); }
  bool binary(std::vector<std::uint8_t>&) { return false; }
  bool start_object(std::size_t) { return open(json::object()); }
  bool start_array(std::size_t) { return open(json::array()); }
  bool key(std::string& text) {
    place_ = &(*open_.back())[text];
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) { return false; }

 private:
  json& place(json value) {
    if (!open_.empty() && open_.back()->is_array()) return open_.back()->push_back(std::move(value));
    return *place_ = std::move(value);
  }
  bool take(json value) {
    place(std::move(value));
    return true;
  }
  bool open(json value) {
    open_.push_back(&place(std::move(value)));
    return open_.size() < most_levels;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  json whole_;
  json* place_ = &whole_;    ///< of the next value, unless that is an element
  std::vector<json*> open_;  ///< objects and arrays that have not ended; none of them moves before it has
};

}  // namespace

json::json() noexcept : value_(nullptr) {}
json::json(double number) noexcept : value_(number) {}
json::json(const char* text) : value_(std::string(text)) {}
json::json(std::string_view text) : value_(std::string(text)) {}
json::json(std::string text) noexcept : value_(std::move(text)) {}
json::json(const json& other) = default;
json::json(json&& other) noexcept = default;
json& json::operator=(const json& other) = default;
json& json::operator=(json&& other) noexcept = default;
json::~json() = default;

json::json(std::initializer_list<json> elements) {
  const bool is_for_object = std::ranges::all_of(elements, [](const json& each) {
    return each.elements().size() == 2 && each.elements().front().text() != nullptr;
  });
  if (!is_for_object) {
    value_ = std::vector<json>(elements);
    return;
  }
  members& all = value_.emplace<members>();
  for (const json& each : elements) {
    const std::string& key = *each.elements().front().text();
    if (find(key) == nullptr) all.emplace_back(key, each.elements().back());
  }
}

json json::of_bool(bool value) noexcept {
  json boolean;
  boolean.value_ = value;
  return boolean;
}

json json::of_signed(std::int64_t number) noexcept {
  json value;
  value.value_ = number;
  return value;
}

json json::of_unsigned(std::uint64_t number) noexcept {
  json value;
  value.value_ = number;
  return value;
}

json json::object() {
  json value;
  value.value_.emplace<members>();
  return value;
}

json json::array() {
  json value;
  value.value_.emplace<std::vector<json>>();
  return value;
}

json& json::operator[](std::string_view key) {
  if (std::holds_alternative<std::nullptr_t>(value_)) value_.emplace<members>();
  auto& all = std::get<members>(value_);
  const auto entry = std::ranges::find(all, key, &members::value_type::first);
  return entry != all.end() ? entry->second : all.emplace_back(std::string(key), json()).second;
}

void json::update(json other) {
  for (auto& [key, value] : std::get<members>(other.value_)) (*this)[key] = std::move(value);
}

json& json::push_back(json element) {
  if (std::holds_alternative<std::nullptr_t>(value_)) value_.emplace<std::vector<json>>();
  return std::get<std::vector<json>>(value_).emplace_back(std::move(element));
}

bool json::is_object() const noexcept { return std::holds_alternative<members>(value_); }
bool json::is_array() const noexcept { return std::holds_alternative<std::vector<json>>(value_); }

const json* json::find(std::string_view key) const noexcept {
  const auto* const all = std::get_if<members>(&value_);
  if (all == nullptr) return nullptr;
  const auto entry = std::ranges::find(*all, key, &members::value_type::first);
  return entry != all->end() ? &entry->second : nullptr;
}

const std::vector<json>& json::elements() const noexcept {
  static const std::vector<json> none;
  const auto* const all = std::get_if<std::vector<json>>(&value_);
  return all != nullptr ? *all : none;
}

const std::string* json::text() const noexcept { return std::get_if<std::string>(&value_); }

std::optional<double> json::number() const noexcept {
  if (const auto* number = std::get_if<double>(&value_)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*number);
  return std::nullopt;
}

std::optional<std::uint64_t> json::unsigned_number() const noexcept {
  const auto* const number = std::get_if<std::uint64_t>(&value_);
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

void json::append_to(std::string& out, std::optional<std::size_t> level) const {
  if (const auto* text = std::get_if<std::string>(&value_)) {
    out += json_string(*text);
  } else if (const auto* truth = std::get_if<bool>(&value_)) {
    out += *truth ? "true" : "false";
  } else if (const auto* signed_number = std::get_if<std::int64_t>(&value_)) {
    out += fmt::format_int(*signed_number).c_str();
  } else if (const auto* whole_number = std::get_if<std::uint64_t>(&value_)) {
    out += fmt::format_int(*whole_number).c_str();
  } else if (const auto* fraction = std::get_if<double>(&value_)) {
    out += nlohmann_json(*fraction).dump();
  } else if (is_array()) {
    append_list(out, "[]", level, elements(),
                [&](const json& each, std::optional<std::size_t> next) { each.append_to(out, next); });
  } else if (const auto* all = std::get_if<members>(&value_)) {
    append_list(out, "{}", level, *all, [&](const members::value_type& each, std::optional<std::size_t> next) {
      out += json_string(each.first) + (next ? ": " : ":");
      each.second.append_to(out, next);
    });
  } else {
    out += "null";
  }
}

std::optional<json> parse_json(std::string_view text) {
  json_builder builder;
  if (!nlohmann_json::sax_parse(text, &builder)) return std::nullopt;
  return std::move(builder.built());
}

std::string json_text(const json& report) {
  std::string out;
  report.append_to(out, 0);
  return out + '\n';
}

std::string json_line(const json& value) {
  std::string out;
  value.append_to(out, std::nullopt);
  return out + '\n';
}

std::string json_string(std::string_view text) {
  if (!is_plain(text)) return dumped(text, nlohmann_json::error_handler_t::replace);
  std::string out = "\"";
  out += text;
  return out + '"';
}

void add_text(json& record, const std::string& key, std::string_view text) {
  record[key] = text;
  if (!is_utf8(text)) record[key + "_hex"] = hexadecimal(text);
}

void add_texts(json& record, const std::string& key, const std::vector<std::string>& texts) {
  record[key] = texts;
  if (!std::ranges::all_of(texts, is_utf8)) record[key + "_hex"] = json_list(texts, hexadecimal);
}

}  // namespace cutpoint::cli
