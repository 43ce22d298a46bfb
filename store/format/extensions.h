// The field at the end of configs and snapshots by which later versions of the format add to them.
#pragma once

#include <cstdint>
#include <string_view>

#include <cutpoint/status.h>
#include <fmt/format.h>

#include "store/format/fields.h"

namespace cutpoint::store {

/// A reader that does not know an extension of this type or a larger one must refuse the object.
inline constexpr std::uint16_t first_required_extension = 0x8000;

/// Writes that there are none.
inline void append_no_extensions(field_writer& fields) { fields.number(std::uint16_t{0}); }

/// Reads the field, and passes over extensions that need not be known; none is known yet. What is cut off shows in
/// `field_reader::ok`. Errors: unavailable, for one that must be known.
[[nodiscard]] inline status skip_extensions(field_reader& fields, std::string_view object) {
  for (auto count = fields.number<std::uint16_t>(); count > 0 && fields.ok(); --count) {
    const auto type = fields.number<std::uint16_t>();
    static_cast<void>(fields.take(fields.number<std::uint32_t>()));
    if (!fields.ok() || type < first_required_extension) continue;
    return {status_code::unavailable,
            fmt::format("{} has an extension of type {}, which this program does not know and must", object, type)};
  }
  return {};
}

}  // namespace cutpoint::store
