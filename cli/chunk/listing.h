// Reads a listing of `cutpoint chunk` in the format text or jsonl, chunk by chunk.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>

namespace cutpoint::cli {

struct listed_chunk {
  std::string path;
  chunk where;
  std::string digest;  ///< in hexadecimal; empty without a fingerprint
};

/// Reads chunks in the order of the listing, in memory that does not grow with it.
class listing_reader {
 public:
  /// Opens a listing and reads its first lines. Errors: io_error; cancelled; invalid_argument, if the file is no
  /// listing in the format text or jsonl.
  [[nodiscard]] static result<listing_reader> open(const std::string& file, const cancellation* cancel);
  listing_reader(listing_reader&&) noexcept;
  ~listing_reader();

  /// Returns the canonical string, and the name of the fingerprint.
  [[nodiscard]] const std::string& cuts() const;
  [[nodiscard]] const std::string& fingerprint() const;

  /// Returns the next chunk, or nullopt at the end. Skips lines that report failures. Errors: as for `open`.
  [[nodiscard]] result<std::optional<listed_chunk>> next();

 private:
  class listing_parser;
  explicit listing_reader(std::unique_ptr<listing_parser> state) noexcept;

  std::unique_ptr<listing_parser> implementation_;
};

/// Returns the path of each input of a listing, in order. An input begins at the offset 0. Errors: as for
/// `listing_reader`.
[[nodiscard]] result<std::vector<std::string>> listed_paths(const std::string& file, const cancellation* cancel);

}  // namespace cutpoint::cli
