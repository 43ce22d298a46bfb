// Reads many chunks at once, ordered by their containers, so that neighbours are read together.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "store/session/records.h"
#include "store/session/store_reading.h"

namespace cutpoint::store {

/// A chunk that was read, and how its container has it. Valid during the call that it is passed to.
struct chunk_content {
  byte_span bytes;
  record_codec codec = record_codec::none;
  byte_span frame = {};  ///< the compressed content; empty without codec
};

/// Takes the chunk that is wanted at an index, or why it is missing. Called by several threads at once.
using content_function = std::function<void(std::size_t index, const result<chunk_content>& content)>;

/// Reads chunks, each range of a container once. Memory: about 100 bytes for each chunk, and 4 MiB or the largest chunk for each
/// thread. Not thread-safe.
class content_window {
 public:
  /// Reads on `threads`, 0: one for each processor; on more if the storage answers more requests at once. Errors: those of the
  /// fingerprinter.
  [[nodiscard]] static result<content_window> make(const store_reading& store, std::uint64_t threads);

  /// Finds the records of chunks. Returns the number of containers that will be read. The references must stay there until
  /// `read_rest` has returned.
  std::uint64_t plan(std::vector<const record_reference*> wanted);
  /// Calls `take` for the chunks that can be read as planned. Each content has been compared with its digest. Does not use the
  /// shards, so that another thread may.
  void read(const content_function& take);
  /// Calls `take` for all other chunks: looks for them again, as `record_reader` does.
  void read_rest(const content_function& take);

 private:
  /// A chunk whose record was found.
  struct planned_read {
    std::size_t index;      ///< into `wanted_`
    std::size_t container;  ///< index into `containers_`
    placed_record record;
  };
  struct container_source {
    std::string id;
    object_salt salt;
  };
  struct worker {
    record_fingerprinter check;
    std::vector<std::uint8_t> bytes = {};
    std::vector<std::uint8_t> content = {};
    std::vector<std::size_t> unread = {};  ///< indices into `wanted_`
  };

  content_window(const store_reading& store, record_fingerprinter check, std::vector<worker> workers)
      : store_(store), again_(store.objects, store.key, store.shards, std::move(check)), workers_(std::move(workers)) {}

  void locate(std::span<const std::size_t> indices);
  void read_range(worker& own, std::span<const planned_read> range, const content_function& take);
  [[nodiscard]] result<chunk_content> open_record(worker& own, record_opener& opener, const planned_read& read,
                                                  std::span<std::uint8_t> record);

  store_reading store_;
  record_reader again_;
  std::vector<worker> workers_;
  std::vector<const record_reference*> wanted_;
  std::vector<planned_read> reads_;
  std::vector<container_source> containers_;
  std::vector<std::span<const planned_read>> ranges_;  ///< of `reads_`, each of one container
};

/// Returns the contents of chunks, each or why it is missing, in their order. They are read by a window on one thread, or on as many as
/// the storage answers requests at once.
[[nodiscard]] std::vector<result<shared_chunk>> read_chunks(const store_reading& store,
                                                            std::span<const record_reference> chunks);

/// Reads files from front to back. Not thread-safe.
class window_reader final : public record_source {
 public:
  /// Errors: those of the fingerprinter.
  [[nodiscard]] static result<window_reader> make(const store_reading& store) {
    CUTPOINT_TRY(auto check, store.make_fingerprinter());
    return window_reader(store, record_reader(store.objects, store.key, store.shards, std::move(check)));
  }

  [[nodiscard]] result<std::vector<std::uint8_t>> read_node(const record_reference& node) override {
    return records_.read_node(node);
  }
  [[nodiscard]] result<shared_chunk> share_chunk(const record_reference& chunk) override {
    return records_.share_chunk(chunk);
  }
  [[nodiscard]] std::vector<result<shared_chunk>> share_chunks(std::span<const record_reference> chunks) override {
    return read_chunks(store_, chunks);
  }
  [[nodiscard]] std::uint64_t window_bytes() const override { return window_bytes_of(store_.objects); }

 private:
  window_reader(const store_reading& store, record_reader records) : store_(store), records_(std::move(records)) {}

  store_reading store_;
  record_reader records_;
};

}  // namespace cutpoint::store
