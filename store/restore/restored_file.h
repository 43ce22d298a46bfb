// A regular file that is being restored: chunks that are read together, and what of it is there already.
// Apart because restore_window.h plans what is read, and this file writes it and has a source of its own.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/restore/set_metadata.h"
#include "store/restore/target_tree.h"
#include "store/session/store_reading.h"

namespace cutpoint::store {

/// A file with several names that has got the first of them.
struct linked_file {
  std::string first_path;                ///< below the target
  std::vector<std::string> other_paths;  ///< in the snapshot: those that it has got before the outcome was known
  std::optional<status> outcome;         ///< of the content
  std::uint32_t flags = 0;               ///< which are set when the file has all its names
};

/// The functions are thread-safe.
struct restored_file {
  std::string path;  ///< in the snapshot
  folder_entry entry;
  linked_file* linked = nullptr;  ///< not of a file with one name
  owned_descriptor descriptor;
  bool is_new = true;        ///< otherwise the file existed before, and only what differs of its content is written
  bool is_complete = false;  ///< whether all its places are in the window

  /// Gives the file the length of the entry.
  void resize();
  /// Writes content `count` times in a row. Zeros become a hole.
  void write(std::uint64_t offset, std::uint64_t count, byte_span content);
  /// Makes a hole, unless there is one.
  void make_hole(std::uint64_t offset, std::uint64_t bytes);
  /// Fills `destination`. Returns false if the file cannot be read or ends before.
  [[nodiscard]] bool read(std::uint64_t offset, std::span<std::uint8_t> destination) const;
  /// Brings everything to the disk, and forgets what is in memory of the content, so that it is read from the disk.
  void flush();
  /// Sets the metadata. A file that existed before and is right is not changed. Returns what could not be set.
  [[nodiscard]] std::vector<metadata_failure> complete();

  /// Remembers the first failure.
  void fail(const status& why);
  /// Returns the first failure, or success.
  [[nodiscard]] status outcome();
  /// Returns how many bytes of the content were changed.
  [[nodiscard]] std::uint64_t written_bytes() const noexcept { return written_bytes_; }

 private:
  [[nodiscard]] status write_all(std::uint64_t offset, byte_span bytes);
  [[nodiscard]] status write_zeros(std::uint64_t offset, std::uint64_t bytes);

  std::atomic<std::uint64_t> written_bytes_ = 0;
  std::atomic<bool> is_resized_ = false;
  std::mutex mutex_;
  status failure_;
};

/// Opens a file of a folder whose content may be changed in place. That is a regular file with one name, which belongs to
/// this process's user or to the entry's, and has no attributes that the entry lacks. Until the file is complete, it
/// permits nothing that the entry does not. Returns an invalid descriptor for all other files, which must be replaced.
[[nodiscard]] owned_descriptor open_in_place(int folder, const folder_entry& entry);

[[nodiscard]] bool is_zero(byte_span bytes) noexcept;

/// A place in a file that has a chunk.
struct content_place {
  record_reference record;
  restored_file* file = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t count = 1;  ///< how many times the chunk follows itself
};

/// Reads the bytes of files and makes their digests. Memory: the largest chunk for each thread. Not thread-safe.
class content_comparison {
 public:
  /// Errors: those of the fingerprinter.
  [[nodiscard]] static result<content_comparison> make(const store_reading& store, std::uint64_t threads);

  /// Returns the places whose bytes do not have the digest of their chunk, in the same order. Of a chunk that follows
  /// itself these are the repetitions that differ, or all if the first does. A file that cannot be read differs.
  [[nodiscard]] std::vector<content_place> find_differences(std::span<const content_place> places);

 private:
  struct worker {
    record_fingerprinter check;
    std::vector<std::uint8_t> bytes = {};
    std::vector<std::uint8_t> repetition = {};
  };

  explicit content_comparison(std::vector<worker> workers) noexcept : workers_(std::move(workers)) {}
  static void compare(worker& own, const content_place& place, std::vector<content_place>& differences);

  std::vector<worker> workers_;
};

}  // namespace cutpoint::store
