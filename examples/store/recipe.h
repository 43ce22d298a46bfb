// A recipe: what one stream is made of, in lines of text.
//
//     cutpoint-store-recipe 1
//     cuts fastcdc(...)               the canonical string, which means the same cuts in every release
//     fingerprint sha256
//     DIGEST LENGTH COUNT             a chunk, or COUNT equal ones that follow each other
//     end BYTES CHECK                 all bytes of the stream; what the lines before hash to
//
// CHECK is the last of a chain: the hash of each line together with what all lines before it came to. So neither
// writing nor reading holds more than a line, and a recipe that was cut off, or changed, is known by it.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <cutpoint/fingerprint.h>

#include "files.h"

namespace store {

/// Chunks and lines are hashed with it.
inline constexpr cutpoint::fingerprint_kind hash = cutpoint::fingerprint_kind::sha256;

/// Hashes lines, each with what came of those before.
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

/// `count` chunks that follow each other.
struct recipe_line {
  std::string digest;        ///< hexadecimal
  std::uint64_t length = 0;  ///< bytes of each
  std::uint64_t count = 0;
};

/// Writes a recipe, line by line. Without `finish` it is none.
class recipe_writer {
 public:
  static result<recipe_writer> create(const std::string& path, const std::string& cuts);
  status add(const recipe_line& line);
  /// Writes the end, and waits until all is on the disk.
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

/// Reads a recipe, line by line, trusting nothing in it.
class recipe_reader {
 public:
  /// Errors: io_error; invalid_argument, where it is damaged, as for `next`.
  static result<recipe_reader> open(const std::string& path);
  /// Nothing after the last, when all has proved to be whole.
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
  std::uint64_t longest_ = 0;  ///< that a chunk of these cuts can be
  std::uint64_t byte_count_ = 0;
};

/// Reads all of a recipe. Errors: as for `recipe_reader`.
status check_recipe(const std::string& path);

}  // namespace store
