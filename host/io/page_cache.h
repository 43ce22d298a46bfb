// Whether bytes of a file are in the page cache, and how they are read past it.
#pragma once

#include <cstdint>

namespace cutpoint {

/// Whether most of a stretch can be had without the disk; true where nobody tells. Looks at no byte of it, and causes
/// no read on Linux 6.5 and later, where the file is this user's; elsewhere the first byte is asked for, without
/// waiting.
[[nodiscard]] bool is_mostly_cached(int descriptor, std::uint64_t offset, std::uint64_t length);

/// A second descriptor of the same open file, past the page cache.
struct direct_descriptor {
  int descriptor = -1;             ///< the caller's to close; -1 where the file system has no such thing
  std::uint64_t alignment = 4096;  ///< of offsets, lengths and addresses
};

[[nodiscard]] direct_descriptor open_direct(int descriptor);

}  // namespace cutpoint
