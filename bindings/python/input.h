// The stream that is cut: the bytes of a Python object, or a file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cutpoint/file_reader.h>
#include <cutpoint/path_pattern.h>
#include <cutpoint/source.h>
#include <nanobind/nanobind.h>

#include "bindings/python/settings.h"

namespace cutpoint::python {

/// Holds the buffer of a Python object, whose bytes must not change meanwhile. Needs the GIL.
class held_buffer {
 public:
  /// Throws TypeError if the object has no buffer of bytes, and BufferError if it is not contiguous.
  explicit held_buffer(nanobind::handle object);
  held_buffer(const held_buffer&) = delete;
  held_buffer& operator=(const held_buffer&) = delete;
  ~held_buffer();

  [[nodiscard]] byte_span bytes() const noexcept {
    return {static_cast<const std::uint8_t*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_ = {};
};

/// An input stream. A str or os.PathLike is the path of a file; any other object must have a buffer. Construction and
/// destruction need the GIL.
class input {
 public:
  explicit input(nanobind::handle object);

  /// Returns the path of the file, or an empty string for bytes.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Returns the bytes in memory, or nullopt for a file.
  [[nodiscard]] std::optional<byte_span> bytes_in_memory() const noexcept {
    return buffer_ ? std::optional<byte_span>(buffer_->bytes()) : std::nullopt;
  }

  // The following functions do not need the GIL.

  /// Must be called before `open`. For a file it takes memory for read-ahead from the feed's.
  [[nodiscard]] status prepare(feed_options& feed, const cancellation& cancel);
  /// May be called once. The input owns the source.
  [[nodiscard]] result<source*> open();
  /// Returns, after the end of the stream, io_error if the file changed while it was read.
  [[nodiscard]] status check_unchanged() const;
  /// As `file_stream::restart_unmodified`; the source is the one that `open` returned.
  [[nodiscard]] bool restart_unmodified() { return file_ != nullptr && file_->restart_unmodified(); }

 private:
  std::string path_;
  std::optional<held_buffer> buffer_;
  std::optional<memory_source> memory_;
  std::optional<file_reader> reader_;
  std::unique_ptr<file_stream> file_;  ///< must be destroyed before its reader
};

/// Returns a path that Python gives, in the bytes of the file system. Throws TypeError.
[[nodiscard]] std::string path_of(nanobind::handle object);

/// Returns the patterns that Python gives. Throws TypeError and ValueError.
[[nodiscard]] std::vector<path_pattern> make_patterns(const std::vector<nanobind::object>& patterns);

}  // namespace cutpoint::python
