// An index of casync and desync (.caibx): where the chunks of a file end, and their digests.
//
// All numbers are 64 bits, little-endian. A header of six: its size, a magic number, flags, the smallest, average and
// largest chunk. A table: a size of all ones, a magic number, then for each chunk its end and a digest of 32 bytes; a
// tail of 0, 0, the header's size, the table's size, a magic number.
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

/// What casync uses where nothing else is asked for.
inline constexpr cutpoint::fingerprint_kind hash = cutpoint::fingerprint_kind::sha512_256;

/// Writes an index, chunk by chunk, in a temporary file beside it, which `finish` gives its name.
class index_file {
 public:
  /// Errors: io_error.
  static result<index_file> create(const std::string& path, const cutpoint::buzhash_parameters& cuts);
  /// A chunk that follows those before. Failures are told by `finish`.
  void add(std::uint64_t length, const cutpoint::digest& digest);
  status finish();

  index_file(index_file&& other) noexcept;
  /// Removes what was not finished.
  ~index_file();

 private:
  explicit index_file(std::string path);
  void write_number(std::uint64_t number);
  [[nodiscard]] std::string unfinished() const { return path_ + ".new"; }

  std::string path_;  ///< empty when finished, or moved from
  std::ofstream file_;
  std::uint64_t end_ = 0;
  std::uint64_t table_bytes_ = 0;
};

}  // namespace casync
