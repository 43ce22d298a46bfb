// A recipe: the chunks of one stream, as lines of text.
//
//     cutpoint-store-recipe 1
//     cuts fastcdc(...)               the canonical string
//     fingerprint sha256
//     DIGEST LENGTH COUNT             a chunk, or COUNT equal chunks in a row
//     end BYTES CHECK                 the number of bytes of the stream, and a checksum of the lines above
//
// The checksum of a line is the hash of the line and the checksum of the lines above. CHECK is the last one. Therefore
// neither writing nor reading holds more than a line, and a truncated or changed recipe is detected.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <cutpoint/fingerprint.h>

#include "files.h"

namespace store {

/// The hash of chunks and lines.
inline constexpr cutpoint::fingerprint_kind hash = cutpoint::fingerprint_kind::sha256;

/// Computes the checksum of lines.
class line_chain {
 public:
  static result<line_chain> make();
  status add(std::string_view line);
  [[nodiscard]] std::string hex() const { return cutpoint::to_hex(last_); }

 private:
  explicit line_chain(cutpoint::fingerprinter hasher) noexcept : hasher_(std::move(hasher)) {}

  cutpoint::fingerprinter hasher_;
  cutpoint::digest last_;
  std::string joined_;
};

/// A number of equal chunks in a row.
struct recipe_line {
  std::string digest;        ///< hexadecimal
  std::uint64_t length = 0;  ///< of each chunk, in bytes
  std::uint64_t count = 0;
};

/// Writes a recipe line by line. It is invalid until `finish` has written its end.
class recipe_writer {
 public:
  static result<recipe_writer> create(const std::string& path, const std::string& cuts);
  status add(const recipe_line& line);
  /// Writes the end and waits until the recipe is on the disk.
  status finish();

 private:
  recipe_writer(std::string path, descriptor file, line_chain chain) noexcept;
  status append(const std::string& line);
  status write_out();

  std::string path_;
  descriptor file_;
  line_chain chain_;
  std::string waiting_;
  std::uint64_t byte_count_ = 0;
};

/// Reads a recipe line by line and checks everything in it.
class recipe_reader {
 public:
  /// Errors, here and of `next`: io_error; invalid_argument, if the recipe is damaged.
  static result<recipe_reader> open(const std::string& path);
  /// Returns the next line, or nullopt after the last one if the checksum is right.
  result<std::optional<recipe_line>> next();

 private:
  struct closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  recipe_reader(std::string path, std::FILE* file, line_chain chain) noexcept;
  result<std::string> read_line();
  status read_head();
  status check_end(std::string_view words);
  [[nodiscard]] status damaged(const std::string& why) const;

  std::string path_;
  std::unique_ptr<std::FILE, closer> file_;
  line_chain chain_;
  std::uint64_t line_number_ = 0;
  std::uint64_t longest_ = 0;  ///< the maximum length of a chunk
  std::uint64_t byte_count_ = 0;
};

/// Reads a whole recipe. Errors: as for `recipe_reader`.
status check_recipe(const std::string& path);

}  // namespace store
