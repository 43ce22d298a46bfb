// The chunks of a store: one file each, named by its digest, in 256 folders. A file of that name has its bytes on the
// disk, or it is not there.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/fingerprint.h>

#include "files.h"

namespace store {

/// Where the chunk of a digest, in hexadecimal, lies.
std::string chunk_path(const std::string& store, const std::string& digest);

/// A chunk's bytes, when they are what its name says. Errors: io_error; invalid_argument, where they are not.
result<std::vector<std::uint8_t>> read_chunk(const std::string& store, const std::string& digest, std::uint64_t length,
                                             cutpoint::fingerprinter& hasher);

/// Adds chunks. Files are written under a temporary name, many are flushed by one call, as each by itself would take a
/// turn of the disk, and only then they get their names. One writer for a store at a time.
class chunk_writer {
 public:
  /// `folder` is open for as long as the writer is there.
  chunk_writer(std::string store, const descriptor& folder) : store_(std::move(store)), folder_(folder) {}

  /// A chunk that is there is not written again; one of another length, which is damaged, is replaced.
  status add(const std::string& digest, byte_span bytes);
  /// Waits until all chunks that were added, those that were there too, are on the disk under their names.
  status finish();

  [[nodiscard]] std::uint64_t new_chunks() const noexcept { return new_chunks_; }
  [[nodiscard]] std::uint64_t new_bytes() const noexcept { return new_bytes_; }

 private:
  status sync();
  status name_waiting();

  std::string store_;
  const descriptor& folder_;
  std::vector<std::string> waiting_;  ///< digests of files that have no name yet
  std::uint64_t waiting_bytes_ = 0;
  std::uint64_t new_chunks_ = 0;
  std::uint64_t new_bytes_ = 0;
};

}  // namespace store
