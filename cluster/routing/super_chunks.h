// Super-chunks: consecutive chunks that are routed to one node together.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <cutpoint/cluster/routed_chunk.h>

namespace cutpoint::cluster {

enum class super_chunk_cuts {
  content,  ///< ends after a chunk that its fingerprint chooses, so that equal data gives equal super-chunks
  fixed,    ///< ends at the first chunk by which the length reaches the target: the paper's mode
};

struct super_chunk_options {
  super_chunk_cuts cuts = super_chunk_cuts::content;
  /// Mean length in bytes, at least 2. Longer super-chunks need fewer decisions and find less redundancy. By content the
  /// shortest have half of it and the longest twice as much, each but for one chunk; the last of a file may be shorter.
  std::uint64_t target_bytes = 1024 * 1024;
};

/// Cuts the chunks of files into super-chunks, each of one application class. A file of at least the target length has
/// super-chunks of its own. Smaller files share those of their class, or each would be a super-chunk with a handprint of a
/// few chunks. Not thread-safe.
class super_chunk_builder {
 public:
  /// Takes a finished super-chunk. The chunks are valid during the call.
  using receiver = std::function<void(class_number, std::span<const routed_chunk>)>;

  super_chunk_builder(const super_chunk_options& options, receiver take);

  void begin_file(class_number application);
  /// Adds a chunk to the file that was begun.
  void add(const routed_chunk& chunk);
  void end_file();
  /// Ends the shared super-chunks of all classes, in the order of the classes, as at the end of a stream. No file is begun.
  void finish();

 private:
  struct open_super_chunk {
    std::vector<routed_chunk> chunks;
    std::uint64_t byte_count = 0;
  };

  void extend(open_super_chunk& open, const routed_chunk& chunk);
  void close(open_super_chunk& open);
  [[nodiscard]] bool ends_after(const open_super_chunk& open, const routed_chunk& chunk) const;

  super_chunk_options options_;
  receiver take_;
  class_number application_ = 0;          ///< of the present file
  bool has_own_ = false;                  ///< whether the present file has reached the target
  open_super_chunk file_;                 ///< chunks of the present file, from its beginning or its last super-chunk
  std::vector<open_super_chunk> shared_;  ///< of each class
};

}  // namespace cutpoint::cluster
