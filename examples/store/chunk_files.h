// The chunks of a store, each in a file named by its digest, in 256 folders. If a file has this name, its bytes are on the
// disk.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/fingerprint.h>

#include "files.h"

namespace store {

/// Returns the path of a chunk. The digest is hexadecimal.
std::string chunk_path(const std::string& store, const std::string& digest);

/// Returns the bytes of a chunk. Errors: io_error; invalid_argument, if they do not have this digest.
result<std::vector<std::uint8_t>> read_chunk(const std::string& store, const std::string& digest, std::uint64_t length,
                                             cutpoint::fingerprinter& hasher);

/// Adds chunks. Their files have temporary names until one call has flushed many of them; flushing each file would wait
/// for the disk each time. A store has one writer at a time.
class chunk_writer {
 public:
  /// `folder` must outlive the writer.
  chunk_writer(std::string store, const descriptor& folder) : store_(std::move(store)), folder_(folder) {}

  /// Writes the chunk unless its file exists. A file of another length is damaged and is replaced.
  status add(const std::string& digest, byte_span bytes);
  /// Waits until all chunks that were added are on the disk under their names, those that already existed included.
  status finish();

  [[nodiscard]] std::uint64_t new_chunks() const noexcept { return new_chunks_; }
  [[nodiscard]] std::uint64_t new_bytes() const noexcept { return new_bytes_; }

 private:
  status sync();
  status name_waiting();

  std::string store_;
  const descriptor& folder_;
  std::vector<std::string> waiting_;  ///< digests of the files with temporary names
  std::uint64_t waiting_bytes_ = 0;
  std::uint64_t new_chunks_ = 0;
  std::uint64_t new_bytes_ = 0;
};

}  // namespace store
