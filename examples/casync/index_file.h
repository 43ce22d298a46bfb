// An index of casync and desync (.caibx): the ends of the chunks of a file, and their digests.
//
// All numbers have 64 bits and are little-endian. The header has six: its size, a magic number, flags, and the smallest,
// average and largest chunk. The table begins with a size of all ones and a magic number. Then it has, for each chunk, its
// end and a digest of 32 bytes. The tail is 0, 0, the header's size, the table's size, and a magic number.
#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include <cutpoint/algorithms.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

namespace casync {

using cutpoint::result;
using cutpoint::status;

/// The default of casync.
inline constexpr cutpoint::fingerprint_kind hash = cutpoint::fingerprint_kind::sha512_256;

inline constexpr std::uint64_t header_bytes = 48;
inline constexpr std::uint64_t entry_bytes = 40;
inline constexpr std::uint64_t table_edge_bytes = 56;  // the table's header and tail

inline constexpr std::uint64_t index_magic = 0x96824d9c7b129ff9;
inline constexpr std::uint64_t table_magic = 0xe75b9e112f17417d;
inline constexpr std::uint64_t tail_magic = 0x4b4f050e5549ecd1;

// Flags of casync. The first and the last concern archives; they are set because casync sets them for single files too.
inline constexpr std::uint64_t excludes_nodump = 0x8000000000000000;
inline constexpr std::uint64_t has_sha512_256 = 0x2000000000000000;
inline constexpr std::uint64_t reads_exclude_files = 0x1000000000000000;

/// Writes an index chunk by chunk to a temporary file in the same folder, which `finish` renames.
class index_file {
 public:
  /// Errors: io_error.
  static result<index_file> create(const std::string& path, const cutpoint::buzhash_parameters& cuts) {
    index_file index(path);
    if (!index.file_) return cutpoint::system_failure(index.unfinished(), "created", errno);
    for (const std::uint64_t number :
         {header_bytes, index_magic, excludes_nodump | has_sha512_256 | reads_exclude_files, *cuts.min_bytes,
          cuts.avg_bytes, *cuts.max_bytes, ~std::uint64_t{0}, table_magic}) {
      index.write_number(number);
    }
    index.table_bytes_ = table_edge_bytes;
    return index;
  }
  /// Adds the next chunk. A failure is returned by `finish`.
  void add(std::uint64_t length, const cutpoint::digest& digest) {
    end_ += length;
    table_bytes_ += entry_bytes;
    write_number(end_);
    file_.write(reinterpret_cast<const char*>(digest.bytes.data()), digest.size);
  }
  status finish() {
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{0}, header_bytes, table_bytes_, tail_magic}) {
      write_number(number);
    }
    file_.close();
    if (!file_) return cutpoint::system_failure(unfinished(), "written", errno);
    if (std::rename(unfinished().c_str(), path_.c_str()) != 0) return cutpoint::system_failure(path_, "created", errno);
    path_.clear();
    return {};
  }

  index_file(index_file&& other) noexcept
      : path_(std::exchange(other.path_, {})),
        file_(std::move(other.file_)),
        end_(other.end_),
        table_bytes_(other.table_bytes_) {}
  /// Removes the temporary file if `finish` was not called.
  ~index_file() {
    if (!path_.empty()) std::remove(unfinished().c_str());
  }

 private:
  explicit index_file(std::string path) : path_(std::move(path)), file_(unfinished(), std::ios::binary) {}
  void write_number(std::uint64_t number) {
    std::array<char, 8> bytes = {};
    for (char& byte : bytes) {
      byte = static_cast<char>(number & 0xff);
      number >>= 8;
    }
    file_.write(bytes.data(), bytes.size());
  }
  [[nodiscard]] std::string unfinished() const { return path_ + ".new"; }

  std::string path_;  ///< empty after `finish` and after a move
  std::ofstream file_;
  std::uint64_t end_ = 0;
  std::uint64_t table_bytes_ = 0;
};

}  // namespace casync
