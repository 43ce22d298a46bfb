// A folder of a mounted store that a program has opened.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <sys/stat.h>

#include "cli/mount/served_store.h"

namespace cutpoint::cli {

/// Its entries are numbered, so that a program can go on where its buffer was full, or go back. Thread-safe.
class opened_folder {
 public:
  /// Takes an entry and the number of the next one. Returns false, and has not taken the entry, if the buffer is full.
  using fill_function = std::function<bool(const std::string& name, const struct stat& facts, off_t next)>;

  /// `served` must outlive the folder.
  opened_folder(served_store& served, std::string path, shown_place place);

  /// Calls `fill` with the entries from number `begin` on, until it returns false. Returns 0 or -errno: if an entry cannot
  /// be read, the others are given first.
  [[nodiscard]] int read(off_t begin, const fill_function& fill);

 private:
  [[nodiscard]] int read_shown(off_t begin, const fill_function& fill);
  [[nodiscard]] int read_stored(off_t begin, const fill_function& fill);
  [[nodiscard]] int rewind();

  served_store& served_;
  std::string path_;
  shown_place place_;
  std::mutex mutex_;  ///< for everything below
  std::optional<viewed_folder> entries_;
  std::optional<viewed_file> waiting_;  ///< the entry `next_`, if it was read and not taken yet
  off_t next_ = 0;
  int failure_ = 0;  ///< of an entry that cannot be read
};

}  // namespace cutpoint::cli
