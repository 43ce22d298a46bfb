// An index of casync and desync (.caibx): the ends of the chunks of a file, and their digests.
//
// All numbers have 64 bits and are little-endian. The header has six: its size, a magic number, flags, and the smallest,
// average and largest chunk. The table begins with a size of all ones and a magic number. Then it has, for each chunk, its
// end and a digest of 32 bytes. The tail is 0, 0, the header's size, the table's size, and a magic number.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include <cutpoint/algorithms.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

namespace casync {

using cutpoint::result;
using cutpoint::status;

/// The default of casync.
inline constexpr cutpoint::fingerprint_kind hash = cutpoint::fingerprint_kind::sha512_256;

/// Writes an index chunk by chunk to a temporary file in the same folder, which `finish` renames.
class index_file {
 public:
  /// Errors: io_error.
  static result<index_file> create(const std::string& path, const cutpoint::buzhash_parameters& cuts);
  /// Adds the next chunk. A failure is returned by `finish`.
  void add(std::uint64_t length, const cutpoint::digest& digest);
  status finish();

  index_file(index_file&& other) noexcept;
  /// Removes the temporary file if `finish` was not called.
  ~index_file();

 private:
  explicit index_file(std::string path);
  void write_number(std::uint64_t number);
  [[nodiscard]] std::string unfinished() const { return path_ + ".new"; }

  std::string path_;  ///< empty after `finish` and after a move
  std::ofstream file_;
  std::uint64_t end_ = 0;
  std::uint64_t table_bytes_ = 0;
};

}  // namespace casync
