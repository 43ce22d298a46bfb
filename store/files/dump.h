// Reads the bytes of one stored file at any position.
#pragma once

#include <functional>

#include "store/files/store_reading.h"

namespace cutpoint::store {

/// Passes the bytes `[begin, end)` of a regular file to `take`, in order and in parts of at most a chunk or 1 MiB. Bytes
/// past the end of the file are left out. Errors: those of the storage and
/// of `take`; damage; invalid_argument, if the entry is not a regular file.
[[nodiscard]] status dump_file(const folder_entry& file, std::uint64_t begin, std::uint64_t end, record_source& records,
                               const std::function<status(byte_span bytes)>& take);

}  // namespace cutpoint::store
