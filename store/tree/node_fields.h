// Constants of the encoding of nodes, for the code that writes and reads them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cutpoint::store {

inline constexpr std::uint32_t node_magic = 0x444e4350;  // "PCND"
/// The fields before the elements.
inline constexpr std::size_t node_header_bytes = 16;
inline constexpr std::size_t hint_run_bytes = 12;

/// Is added to the kind of an extent that extensions follow.
inline constexpr std::uint8_t extended_extent = 0x80;

/// How an entry's content follows it. The numbers are in files and never change.
enum class entry_content : std::uint8_t { none = 0, extents = 1, node = 2 };

}  // namespace cutpoint::store
