// Chains of chunks, and the functions that find their cuts in visible ranges of the sequence.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <cutpoint/candidates.h>
#include <cutpoint/cut_cursor.h>

#include "pipeline/sequence/intake.h"

namespace cutpoint {

/// Finds the chunk that begins at a position, with the stream's beginning and end where they are.
class chunk_finder {
 public:
  /// `candidates`, where not null, has those of every visible_range. All must outlive it.
  chunk_finder(const stream_chunkers& chunkers, const ring& ring, std::span<const visible_range> visible_ranges,
               const candidate_bits* candidates = nullptr)
      : chunkers_(&chunkers), ring_(&ring), ranges_(visible_ranges), candidates_(candidates) {}

  /// Finds many chunks in a row with cursors over the same sequence, which must outlive it: one for each rule, made when it is
  /// needed.
  chunk_finder(const stream_chunkers& chunkers, std::vector<std::optional<cut_cursor>>& cursors, const ring& ring,
               std::span<const visible_range> visible_ranges)
      : chunkers_(&chunkers), ring_(&ring), ranges_(visible_ranges), cursors_(&cursors) {
    cursors.resize(chunkers.size());
  }

  struct step {
    std::uint64_t next = 0;  ///< where the next chunk begins
    bool is_chunk = true;    ///< if false, the bytes up to `next` are the rest of a failed stream
  };

  /// Returns nullopt if the cut depends on bytes outside the visible ranges. Positions must not decrease from call to call.
  [[nodiscard]] std::optional<step> operator()(std::uint64_t start);

 private:
  [[nodiscard]] std::optional<std::uint64_t> next_cut(const stream_window& window, std::uint64_t start,
                                                      std::size_t rule);

  const stream_chunkers* chunkers_;
  const ring* ring_;
  std::span<const visible_range> ranges_;
  const candidate_bits* candidates_ = nullptr;
  std::vector<std::optional<cut_cursor>>* cursors_ = nullptr;
};

/// Chunks of the sequence, their offsets positions in it. Only what a failed stream leaves lies between them.
struct chain {
  std::vector<chunk> chunks;
  std::vector<digest> fingerprints;  ///< of all chunks, or of none
  std::uint64_t next = 0;            ///< where the chain would go on

  [[nodiscard]] std::uint64_t bytes() const noexcept;
};

/// Where a chain meets a position, looked up for increasing positions.
class chain_cursor {
 public:
  explicit chain_cursor(const chain& over) : chain_(&over) {}
  /// The index of the chunk that begins at `position`; the number of chunks if the chain ends there;
  /// nullopt if the chain has no cut there.
  [[nodiscard]] std::optional<std::size_t> find(std::uint64_t position);

 private:
  const chain* chain_;
  std::size_t at_ = 0;
};

/// Marks the candidates of positions [first, last), which `visible_ranges` cover, with what is needed around them.
void mark_candidates(const chunker& chunker, const ring& ring, std::span<const visible_range> visible_ranges,
                     std::uint64_t first, std::uint64_t last, candidate_bits& candidates);

}  // namespace cutpoint
