// Feeds the contents of files to the engine, and gathers their extents.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <cutpoint/engine.h>
#include <cutpoint/stream_table.h>

#include "pipeline/inputs/file_feeder.h"
#include "store/backup/tree_builder.h"
#include "store/format/clock.h"
#include "store/session/deduplicator.h"

namespace cutpoint::store {

/// The data between two holes of a file is one stream, so that no chunk has bytes of a hole. A hole is an empty stream,
/// which brings it to its place among the extents. Files wait in the engine without delaying each other. Not thread-safe.
class content_feed final : private content_receiver, private chunk_receiver {
 public:
  /// The arguments must outlive the feed.
  content_feed(engine& threads, const feed_options& options, deduplicator& records)
      : engine_(threads), options_(options), records_(records) {}

  /// Opens the feed of the engine, which otherwise the first content does. Errors: those of the engine.
  [[nodiscard]] status open();

  /// Sets a function that receives the number of bytes after each read and each hole, on the feeding thread.
  void watch(std::function<void(std::uint64_t)> watcher) { watcher_ = std::move(watcher); }
  /// Sets what holds the reading back, which must outlive the feed.
  void hold_back(throttle& bound) { throttle_ = &bound; }
  /// Feeds a file to its end. The entry is completed later, by another thread. If the file cannot be read, it is left out,
  /// and `failure` says why; if it has changed meanwhile, `failure` says so. A file whose ctime alone has changed is read
  /// once more, and has the content of the second reading. Errors: those of the engine and the session; cancelled.
  [[nodiscard]] status store_file(file_feeder& feeder, std::shared_ptr<pending_entry> entry, file_stream& file,
                                  status& failure);

  // The same for a caller who has the bytes in memory: begins a content, takes its bytes and holes, and ends it. One content
  // is open at a time. Errors: those of the engine and the session.

  void begin_content(std::shared_ptr<pending_entry> entry);
  /// Copies bytes, and waits as long as the engine has no room for them.
  [[nodiscard]] status write(byte_span bytes);
  void write_hole(std::uint64_t bytes) { hole_bytes_ += bytes; }
  /// Ends the content, whose entry must not be changed afterwards.
  [[nodiscard]] status end_content() { return end_streams(false); }

  /// Waits until all entries are complete. Files may be fed afterwards. Errors: those of the engine and the session.
  [[nodiscard]] status finish();

  /// Adds the work of what was finished.
  void add_work(store_work& sum) const;

 private:
  /// A stream of the engine: data or a hole of a file.
  struct fed_stream {
    std::shared_ptr<pending_entry> entry;
    std::uint64_t hole_bytes = 0;
    bool is_last = false;      ///< whether the entry has no more streams
    bool is_repeated = false;  ///< whether the file is read again afterwards
  };

  [[nodiscard]] status begin(fed_stream next);
  [[nodiscard]] status begin_data();
  /// `is_repeated` says whether the content is dropped and begins anew.
  [[nodiscard]] status end_streams(bool is_repeated);
  [[nodiscard]] result<destination> next_destination() override;
  [[nodiscard]] status commit(byte_span bytes) override;
  [[nodiscard]] status skip(std::uint64_t hole_bytes) override;
  [[nodiscard]] status end_content(const content_end& end) override;
  void count(std::uint64_t bytes);

  [[nodiscard]] bool has_select() const noexcept override { return true; }
  [[nodiscard]] status select(std::span<const delivered_chunk> chunks,
                              std::span<std::unique_ptr<chunk_work>> work) override {
    return records_.select(chunks, work, selected_);
  }
  [[nodiscard]] status begin_stream(std::uint64_t) override { return {}; }
  [[nodiscard]] status take(const delivered_chunk& chunk) override;
  [[nodiscard]] status end_stream(std::uint64_t stream, const status& outcome) override;

  std::function<void(std::uint64_t)> watcher_;
  throttle* throttle_ = nullptr;
  engine& engine_;
  feed_options options_;
  deduplicator& records_;

  stream_table<fed_stream> streams_;
  deduplicator::selection selected_;
  std::optional<feed> feed_;                // destroyed first, because its threads use everything above
  std::shared_ptr<pending_entry> content_;  ///< the entry of the content that is open
  std::size_t rule_ = 0;                    ///< by which it is cut
  feed_statistics work_;                    ///< of the feeds that have ended
  bool is_in_data_ = false;                 ///< whether the last stream has data and has not ended
  std::uint64_t hole_bytes_ = 0;            ///< of the hole behind it
  std::uint64_t file_bytes_ = 0;            ///< of the file that is fed, until now
};

}  // namespace cutpoint::store
