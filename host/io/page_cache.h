// Finds out whether bytes of a file are in the page cache, and opens files to be read past it.
#pragma once

#include <cstdint>

namespace cutpoint {

/// Returns whether most bytes of a range can be read without the disk, or true if the system does not tell. On Linux
/// 6.5 and later it reads no byte if the file belongs to this user. Otherwise it tries to read the range's first byte
/// without waiting.
[[nodiscard]] bool is_mostly_cached(int descriptor, std::uint64_t offset, std::uint64_t length);

/// A second descriptor of the same open file, whose reads bypass the page cache.
struct direct_descriptor {
  int descriptor = -1;             ///< owned by the caller; -1 if the file system does not support direct reads
  std::uint64_t alignment = 4096;  ///< required of offsets, lengths and addresses, in bytes
};

[[nodiscard]] direct_descriptor open_direct(int descriptor);

}  // namespace cutpoint
