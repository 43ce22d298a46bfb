// Copies contents record by record, between stores whose cuts and digests are the same.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/copy/content_copier.h"
#include "store/objects/config.h"
#include "store/session/compressor_pool.h"
#include "store/session/deduplicator.h"
#include "store/view/shared_reader.h"

namespace cutpoint::store {

/// Reads only chunks that the target lacks. Each is compared with its digest. Compressed chunks stay compressed as they
/// are, whatever level the target has. Memory: at most 32 MiB of contents and a chunk.
class record_copier final : public content_copier {
 public:
  /// The references must outlive the copier. `threads` read chunks; 0: one for each processor.
  record_copier(shared_reader& source, const store_config& source_config, deduplicator& records,
                const store_config& target_config, std::uint64_t threads, progress_meter* meter);

  void enter(const std::string&) override {}
  void leave() override {}
  [[nodiscard]] status copy(std::shared_ptr<pending_entry> entry, const folder_entry& original,
                            const std::string& path) override;
  [[nodiscard]] status finish() override;

 private:
  struct copied_file {
    std::shared_ptr<pending_entry> entry;
    std::string path;
    bool has_own_level;  ///< whether its rule in the context, which both stores have, says how it is compressed
  };
  /// An extent that waits until its chunk is in the target.
  struct waiting_extent {
    std::shared_ptr<const copied_file> file;
    stored_extent extent;
    bool is_last = false;  ///< of the file
  };
  /// A chunk that the target lacks.
  struct missing_chunk {
    std::size_t extent;  ///< index of one that has it
    result<stored_chunk> read = stored_chunk();
  };

  [[nodiscard]] result<std::vector<missing_chunk>> look_up();
  void read(missing_chunk& chunk);

  shared_reader& source_;
  deduplicator& records_;
  compressor_pool compressors_;  ///< for chunks that the source did not try to compress
  record_codec target_codec_;
  std::size_t threads_;
  std::vector<waiting_extent> waiting_;
  std::uint64_t waiting_bytes_ = 0;
};

}  // namespace cutpoint::store
