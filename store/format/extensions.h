// The field of configs, snapshots and extents by which later versions of the format add to them.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include <cutpoint/status.h>
#include <fmt/format.h>

#include "store/format/fields.h"

namespace cutpoint::store {

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
