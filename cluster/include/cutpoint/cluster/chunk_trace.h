// Chunk traces: the chunks of files without their bytes, for simulations. docs/formats/chunk-trace.md has the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cutpoint/cluster/routed_chunk.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>

namespace cutpoint::cluster {

/// Writes a chunk trace in one pass, so that it may go to a pipe. Not thread-safe.
class chunk_trace_writer {
 public:
  /// Takes the next bytes of the trace.
  using receiver = std::function<status(std::string_view)>;

  explicit chunk_trace_writer(receiver write) : write_(std::move(write)) {}

  /// Begins the next file. `application` is the name of its class, from 1 to 255 bytes; `client` says whose file it is.
  /// Errors: invalid_argument, for another name or for more than 65,536 of them; those of the receiver.
  [[nodiscard]] status begin_file(std::string_view application, std::uint32_t client = 0);
  /// Adds a chunk to the file that was begun. At most 256 KiB wait for the receiver, however long the file is. Errors:
  /// invalid_argument, for a chunk without bytes; those of the receiver.
  [[nodiscard]] status add(const routed_chunk& chunk);
  /// Writes what is left. Must be the last call: a trace without its end is not read. Errors: those of the receiver.
  [[nodiscard]] status finish();

 private:
  void append(std::uint64_t value, std::uint32_t length);
  [[nodiscard]] status write_if_full();
  [[nodiscard]] status write_pending();

  receiver write_;
  std::string pending_;
  bool has_begun_ = false;
  std::uint64_t record_count_ = 0;
  std::vector<std::string> applications_;
};

/// Reads a chunk trace in memory that does not grow with it, except for the names of classes. Not thread-safe.
class chunk_trace_reader {
 public:
  /// Reads the beginning of a trace. `bytes` must outlive the reader; `name` is for messages. Errors: those of the
  /// source; invalid_argument, if it is no chunk trace or has another version.
  [[nodiscard]] static result<chunk_trace_reader> open(source& bytes, std::string name);

  /// Goes to the next file and returns true, or returns false at the end of the trace. Skips what is left of the present
  /// file. Errors: those of the source; invalid_argument, with the place, if the trace is cut off or malformed.
  [[nodiscard]] result<bool> next_file();
  /// Returns the next chunks of the present file, or none at its end. They are valid until the next call. Errors: as for
  /// `next_file`.
  [[nodiscard]] result<std::span<const routed_chunk>> next_chunks();

  /// Returns the class of the present file, and its client.
  [[nodiscard]] class_number application() const noexcept { return application_; }
  [[nodiscard]] std::uint32_t client() const noexcept { return client_; }
  /// Returns the names of the classes that have occurred so far, by their numbers.
  [[nodiscard]] const std::vector<std::string>& applications() const noexcept { return applications_; }

 private:
  struct record {
    std::uint64_t value;
    std::uint32_t length;
  };

  chunk_trace_reader(source& bytes, std::string name);

  [[nodiscard]] status fill();
  [[nodiscard]] record peek() const;
  void skip() noexcept;
  [[nodiscard]] status read_class(std::uint64_t value);
  [[nodiscard]] status read_end(std::uint64_t value);
  [[nodiscard]] status malformed(std::string_view what) const;

  source* bytes_;
  std::string name_;
  std::vector<std::uint8_t> buffer_;
  std::size_t begin_ = 0;           ///< of the next record in the buffer
  std::size_t end_ = 0;             ///< of the bytes in the buffer
  std::uint64_t record_count_ = 0;  ///< records before the next one, without the beginning
  bool is_in_file_ = false;
  bool has_ended_ = false;
  class_number application_ = 0;
  std::uint32_t client_ = 0;
  std::vector<std::string> applications_;
  std::vector<routed_chunk> chunks_;
};

}  // namespace cutpoint::cluster
