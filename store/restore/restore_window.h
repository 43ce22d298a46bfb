// The files of a restore whose contents are written together.
//
// Apart because restore.cc would have more than 800 lines with it.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <vector>

#include <cutpoint/store.h>

#include "store/format/clock.h"
#include "store/restore/restored_file.h"
#include "store/session/content_window.h"

namespace cutpoint::store {

/// Collects files and the places of their chunks, and writes many at once, while the next ones are collected. Files that
/// existed before are compared first, and what is right is neither read from the store nor written. Not thread-safe.
class restore_window {
 public:
  /// Receives a file whose content and metadata were written, or that has failed, and what could not be set of it.
  using done_function = std::function<void(restored_file& file, const std::vector<metadata_failure>& failures)>;

  /// The arguments must outlive the window. Errors: those of the fingerprinter.
  [[nodiscard]] static result<restore_window> make(const store_reading& store, const store_restore_options& options,
                                                   progress_meter& meter);

  /// Returns whether one more file may be added before `write` is called.
  [[nodiscard]] bool has_room() const noexcept;
  /// Returns whether `write` must be called before a place is added.
  [[nodiscard]] bool is_full() const noexcept;
  /// Adds a file, which is not complete until its last place was added.
  restored_file& add(std::unique_ptr<restored_file> file);
  void add(const content_place& place) { collected_.places.push_back(place); }

  /// Begins to write the contents of all places that were added, and then to complete and close the files that are
  /// complete. Before that it waits for what was begun earlier, which it reports to `done`. Errors: a failure that all other
  /// files would have too; cancelled.
  [[nodiscard]] status write(const done_function& done);
  /// Waits for everything that was begun. Errors: as for `write`.
  [[nodiscard]] status finish(const done_function& done);
  /// Returns the number of containers that were read, counted again for each window.
  [[nodiscard]] std::uint64_t read_containers() const noexcept { return read_containers_; }

 private:
  restore_window(const store_restore_options& options, progress_meter& meter, content_window contents,
                 content_comparison comparison);

  /// Files and places of their chunks.
  struct batch {
    std::vector<std::unique_ptr<restored_file>> files = {};
    std::vector<content_place> places = {};
    std::vector<content_place> wanted = {};  ///< those whose chunks are read
    std::size_t entry_bytes = 0;             ///< names and attributes of the files
  };

  void plan();
  void begin_reading();
  void take(const content_place& place, const result<chunk_content>& content) const;
  void verify();

  const store_restore_options& options_;
  std::unique_ptr<throttle> throttle_;  ///< of what is written
  progress_meter* meter_;
  content_window contents_;
  content_comparison comparison_;
  std::size_t workers_;
  std::size_t most_files_;  ///< that are open together
  batch collected_;         ///< its last file may be incomplete
  batch written_;           ///< that is being written
  std::uint64_t read_containers_ = 0;
  std::future<void> reading_;  ///< of the contents of `written_`; destroyed first, because it uses everything above
};

/// Returns whether all other files would fail too.
[[nodiscard]] bool is_fatal(const status& outcome) noexcept;

}  // namespace cutpoint::store
