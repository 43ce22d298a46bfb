// Reads many chunks at once, ordered by their containers, so that neighbours are read together.
#pragma once

#include <functional>
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

/// Collects places, and then reads the chunks of all of them. Each range of a container is read once. Memory: about 200
/// bytes for each place, and 4 MiB or the largest chunk for each thread. Not thread-safe.
class content_window {
 public:
  /// Errors: those of the fingerprinter.
  [[nodiscard]] static result<content_window> make(const store_reading& store, std::uint64_t threads);

  void add(const content_place& place) { places_.push_back(place); }
  [[nodiscard]] bool is_full() const noexcept;
  /// Calls `take` for each place that was added, and forgets the places. Each content has been compared with its digest.
  void read_all(const content_function& take);

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
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint8_t> content;
  };

  content_window(const store_reading& store, std::vector<worker> workers)
      : store_(store), workers_(std::move(workers)) {}

  void locate(std::size_t begin, std::size_t end, const content_function& take);
  void read_range(worker& own, std::span<const planned_read> range, const content_function& take);
  [[nodiscard]] result<byte_span> open_record(worker& own, record_opener& opener, const planned_read& read,
                                              std::span<std::uint8_t> record);

  store_reading store_;
  std::vector<worker> workers_;
  std::vector<content_place> places_;
  std::vector<planned_read> reads_;
  std::vector<container_source> containers_;
};

}  // namespace cutpoint::store
