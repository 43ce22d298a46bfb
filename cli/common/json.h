// JSON: values that reports are made of, their text, and values that are read.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <cutpoint/backends.h>

namespace cutpoint::cli {

/// A JSON value. The keys of an object stay in the order in which they were added. The library behind it is known to one source alone.
class json {
 public:
  /// Null.
  json() noexcept;
  json(std::nullptr_t) noexcept : json() {}
  template <std::same_as<bool> Bool>
  json(Bool value) noexcept : json(of_bool(value)) {}
  template <std::signed_integral Number>
  json(Number number) noexcept : json(of_signed(number)) {}
  template <std::unsigned_integral Number>
  requires(!std::same_as<Number, bool>) json(Number number)
  noexcept : json(of_unsigned(number)) {}
  json(double number) noexcept;
  json(const char* text);
  json(std::string_view text);
  json(std::string text) noexcept;
  /// An array of the elements of a range.
  template <std::ranges::input_range Range>
  requires(!std::convertible_to<const Range&, std::string_view> &&
           std::constructible_from<json, std::ranges::range_reference_t<const Range&>>) json(const Range& range)
      : json(array()) {
    for (const auto& element : range) push_back(json(element));
  }
  /// An object, if each element is a list of a text and a value; otherwise an array.
  json(std::initializer_list<json> elements);

  json(const json& other);
  json(json&& other) noexcept;
  json& operator=(const json& other);
  json& operator=(json&& other) noexcept;
  ~json();

  [[nodiscard]] static json object();
  [[nodiscard]] static json array();

  // To write. Null becomes an object or an array.

  /// Returns the value of a key, which is added if the object lacks it.
  json& operator[](std::string_view key);
  /// Adds the keys of another object, and replaces the values of those that are there.
  void update(json other);
  json& push_back(json element);

  // To read.

  [[nodiscard]] bool is_object() const noexcept;
  [[nodiscard]] bool is_array() const noexcept;
  /// Returns the value of a key, or null if the value is no object or lacks it.
  [[nodiscard]] const json* find(std::string_view key) const noexcept;
  [[nodiscard]] const std::vector<json>& elements() const noexcept;
  /// Returns the text, or null if it is none.
  [[nodiscard]] const std::string* text() const noexcept;
  [[nodiscard]] std::optional<double> number() const noexcept;
  /// Returns a number that was written without sign, fraction and exponent.
  [[nodiscard]] std::optional<std::uint64_t> unsigned_number() const noexcept;

  /// Appends the value as text: in one line, or in lines that begin with two spaces for each level, of which `level` are around it.
  void append_to(std::string& out, std::optional<std::size_t> level) const;

 private:
  using members = std::vector<std::pair<std::string, json>>;

  static json of_bool(bool value) noexcept;
  static json of_signed(std::int64_t number) noexcept;
  static json of_unsigned(std::uint64_t number) noexcept;

  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, std::vector<json>, members>
      value_;
};

/// Reads a value. Returns nullopt if the text is no JSON, or has a thousand levels.
[[nodiscard]] std::optional<json> parse_json(std::string_view text);

/// Returns a report as text. Text that is not UTF-8 gets replacement characters, because JSON cannot represent it.
[[nodiscard]] std::string json_text(const json& report);
/// Returns a value as one line, with the same replacement.
[[nodiscard]] std::string json_line(const json& value);
/// Returns a text in quotes, with the same replacement.
[[nodiscard]] std::string json_string(std::string_view text);

/// Adds text to a record. If it is not UTF-8, the record also has its bytes in hexadecimal, as `<key>_hex`.
void add_text(json& record, const std::string& key, std::string_view text);
/// Adds a list of texts to a record in the same way: `<key>_hex` has the bytes of each text, if one of them is not UTF-8.
void add_texts(json& record, const std::string& key, const std::vector<std::string>& texts);

template <class Value>
[[nodiscard]] json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json();
}

/// Returns the list that `rows` make by `json_of_row`.
template <class Rows, class Function>
[[nodiscard]] json json_list(const Rows& rows, Function&& json_of_row) {
  json list = json::array();
  for (const auto& row : rows) list.push_back(json_of_row(row));
  return list;
}

[[nodiscard]] inline json back_ends_json() {
  return json_list(backends(), [](const backend_info& each) {
    return json{{"name", each.name}, {"meaning", each.meaning}, {"runs_here", each.runs_here}};
  });
}

}  // namespace cutpoint::cli
