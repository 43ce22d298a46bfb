// The records of a chunk trace. docs/formats/chunk-trace.md describes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cutpoint::cluster {

inline constexpr std::string_view trace_magic = "CUTTRACE";
inline constexpr std::uint32_t trace_version = 1;

/// A value of 8 bytes and a length of 4, both little-endian. A length of 0 means that the value's first byte has a kind.
inline constexpr std::size_t trace_record_bytes = 12;

enum class trace_record_kind : std::uint8_t { application = 1, file = 2, end = 3 };

inline constexpr std::size_t longest_application_name = 255;
inline constexpr std::size_t most_applications = 65'536;

}  // namespace cutpoint::cluster
