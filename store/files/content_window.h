// Reads many chunks at once, ordered by their containers, so that neighbours are read together.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "store/files/store_reading.h"

namespace cutpoint::store {

struct restored_file;

/// A place in a file that has a chunk.
struct content_place {
  record_reference record;
  restored_file* file = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t count = 1;  ///< how many times the chunk follows itself
};

/// Takes the content of a chunk for one place, or why it is missing. Called by several threads at once.
using content_function = std::function<void(const content_place& place, const result<byte_span>& content)>;

/// Reads the chunks of many places, each range of a container once. Memory: about 100 bytes for each place, and 4 MiB or
/// the largest chunk for each thread. Not thread-safe.
class content_window {
 public:
  /// Errors: those of the fingerprinter.
  [[nodiscard]] static result<content_window> make(const store_reading& store, std::uint64_t threads);

  /// Finds the records of some places, whose order it changes. Returns the number of containers that will be read. The
  /// places must stay there until `read_rest` has returned.
  std::uint64_t plan(std::span<content_place> places);
  /// Calls `take` for the places whose chunks can be read as planned. Each content has been compared with its digest. Does
  /// not use the shards, so that another thread may.
  void read(const content_function& take);
  /// Calls `take` for all other places: looks for their chunks again, as `record_reader` does.
  void read_rest(const content_function& take);

 private:
  /// A place whose record was found.
  struct planned_read {
    std::size_t place;
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
    std::vector<std::size_t> unread = {};  ///< places
  };

  content_window(const store_reading& store, record_fingerprinter check, std::vector<worker> workers)
      : store_(store), again_(store.objects, store.key, store.shards, std::move(check)), workers_(std::move(workers)) {}

  void locate(std::size_t begin, std::size_t end);
  void read_range(worker& own, std::span<const planned_read> range, const content_function& take);
  [[nodiscard]] result<byte_span> open_record(worker& own, record_opener& opener, const planned_read& read,
                                              std::span<std::uint8_t> record);

  store_reading store_;
  record_reader again_;
  std::vector<worker> workers_;
  std::span<content_place> places_;
  std::vector<planned_read> reads_;
  std::vector<container_source> containers_;
  std::vector<std::span<const planned_read>> ranges_;  ///< of `reads_`, each of one container
};

}  // namespace cutpoint::store
