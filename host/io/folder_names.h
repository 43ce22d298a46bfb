// The names in a folder: all of them, each once, or a failure.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <cutpoint/source.h>
#include <sys/types.h>

namespace cutpoint {

struct folder_name {
  std::string name;
  unsigned char type = 0;  ///< what the folder says of its kind: a DT_ constant of readdir(3), DT_UNKNOWN if nothing
};

/// Fills a buffer with the next entries as getdents64(2) does. Returns their bytes, 0 at the end, or -1 and sets errno.
using read_entries_function = std::function<ssize_t(std::span<std::uint8_t> buffer)>;

/// Returns the names that are read, without "." and "..", sorted by byte. A name that comes again is taken once: servers whose
/// folder changes meanwhile begin its listing again, and file systems may list a name twice. A failure after some names is a
/// failure, ENOENT too, which readdir(3) takes for the end; a signal alone is none. Returns false and sets errno on failure.
[[nodiscard]] bool read_folder_names(const read_entries_function& read_entries, std::vector<folder_name>& names,
                                     const cancellation* cancel = nullptr);

/// As above, for an open folder, which is read from its present position.
[[nodiscard]] bool read_folder_names(int folder, std::vector<folder_name>& names, const cancellation* cancel = nullptr);

}  // namespace cutpoint
