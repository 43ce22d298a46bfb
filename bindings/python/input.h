// What is cut: a buffer of Python's, or a file.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <cutpoint/file_reader.h>
#include <cutpoint/source.h>
#include <nanobind/nanobind.h>

#include "bindings/python/settings.h"

namespace cutpoint::python {

/// The bytes of an object with a buffer, which it must keep as they are for as long as this is there. With the GIL.
class held_buffer {
 public:
  /// Throws TypeError, and BufferError where the bytes do not follow each other in memory.
  explicit held_buffer(nanobind::handle of);
  held_buffer(const held_buffer&) = delete;
  held_buffer& operator=(const held_buffer&) = delete;
  ~held_buffer();

  [[nodiscard]] byte_span bytes() const noexcept {
    return {static_cast<const std::uint8_t*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_ = {};
};

/// A stream: str and os.PathLike are the path of a file, all else must have a buffer. Made and gone with the GIL.
class input {
 public:
  explicit input(nanobind::handle given);

  /// Empty, or the file's.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// 0 where it is not known.
  [[nodiscard]] std::uint64_t known_bytes() const noexcept { return buffer_ ? buffer_->bytes().size() : 0; }

  /// Before `open`: takes memory for reading ahead from the feed's, for a file. Without the GIL, as what follows.
  [[nodiscard]] status prepare(feed_options& feed, const cancellation& cancel);
  /// Once. The source lives as long as this.
  [[nodiscard]] result<source*> open();
  /// After the end: whether it was one state of the file that was read.
  [[nodiscard]] status check_unchanged() const;

 private:
  std::string path_;
  std::optional<held_buffer> buffer_;
  std::optional<memory_source> memory_;
  std::optional<file_reader> reader_;
  std::unique_ptr<file_stream> file_;  ///< goes before its reader
};

/// A path of Python's, in the bytes of the file system. Throws TypeError.
[[nodiscard]] std::string path_of(nanobind::handle given);

}  // namespace cutpoint::python
