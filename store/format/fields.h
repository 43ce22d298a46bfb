// Little-endian fields of the store's objects: writing them, and reading them within bounds.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/status.h>
#include <fmt/format.h>

namespace cutpoint::store {

/// Appends fields to a vector of bytes, which must outlive the writer.
class field_writer {
 public:
  explicit field_writer(std::vector<std::uint8_t>& bytes) noexcept : bytes_(bytes) {}

  template <std::unsigned_integral Number>
  field_writer& number(Number value) {
    for (std::size_t i = 0; i < sizeof value; ++i) {
      bytes_.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i)));
    }
    return *this;
  }
  field_writer& bytes(byte_span value) {
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    return *this;
  }
  /// Appends a string of at most 65,535 bytes.
  field_writer& text(std::string_view value) {
    assert(value.size() <= UINT16_MAX);
    number(static_cast<std::uint16_t>(value.size()));
    return bytes({reinterpret_cast<const std::uint8_t*>(value.data()), value.size()});
  }
  field_writer& zeros(std::size_t count) {
    bytes_.resize(bytes_.size() + count);
    return *this;
  }

 private:
  std::vector<std::uint8_t>& bytes_;
};

/// Reads fields from the front of `bytes`. A read past the end gives zeros and makes `ok` false from then on, so that a
/// caller checks once after the last field.
class field_reader {
 public:
  explicit field_reader(byte_span bytes) noexcept : rest_(bytes) {}

  template <std::unsigned_integral Number>
  [[nodiscard]] Number number() noexcept {
    const byte_span field = take(sizeof(Number));
    if (field.empty()) return 0;
    if constexpr (std::endian::native == std::endian::little) {  // compilers do not make one load of the loop
      Number value;
      std::memcpy(&value, field.data(), sizeof value);
      return value;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) value |= std::uint64_t{field[i]} << (8 * i);
    return static_cast<Number>(value);
  }
  template <std::size_t Count>
  [[nodiscard]] std::array<std::uint8_t, Count> bytes() noexcept {
    std::array<std::uint8_t, Count> value = {};
    read(value);
    return value;
  }
  /// Reads bytes to where they belong, which avoids a copy. Past the end nothing is written.
  template <std::size_t Count>
  void read(std::array<std::uint8_t, Count>& destination) noexcept {
    const byte_span field = take(Count);
    if (!field.empty()) std::copy_n(field.begin(), Count, destination.begin());
  }
  [[nodiscard]] std::string text() {
    const byte_span value = take(number<std::uint16_t>());
    return {value.begin(), value.end()};
  }
  /// Returns the next `count` bytes, or an empty span if fewer are left.
  [[nodiscard]] byte_span take(std::size_t count) noexcept {
    if (count > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const byte_span field = rest_.first(count);
    rest_ = rest_.subspan(count);
    return field;
  }

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] std::size_t remaining() const noexcept { return rest_.size(); }

 private:
  byte_span rest_;
  bool ok_ = true;
};

/// A reader that does not know an extension of this type or a larger one must refuse the object.
inline constexpr std::uint16_t first_required_extension = 0x8000;

/// Writes that there are none.
inline void append_no_extensions(field_writer& fields) { fields.number(std::uint16_t{0}); }

/// Takes an extension, and returns whether it knows the type.
using extension_function = std::function<bool(std::uint16_t type, byte_span bytes)>;

/// Reads the field, and passes over extensions that `take` does not know and need not. What is cut off shows in
/// `field_reader::ok`. Errors: unavailable, for one that must be known.
[[nodiscard]] inline status read_extensions(field_reader& fields, std::string_view object,
                                            const extension_function& take) {
  for (auto count = fields.number<std::uint16_t>(); count > 0 && fields.ok(); --count) {
    const auto type = fields.number<std::uint16_t>();
    const byte_span bytes = fields.take(fields.number<std::uint32_t>());
    if (!fields.ok() || take(type, bytes) || type < first_required_extension) continue;
    return {status_code::unavailable,
            fmt::format("{} has an extension of type {}, which this program does not know and must", object, type)};
  }
  return {};
}

}  // namespace cutpoint::store
