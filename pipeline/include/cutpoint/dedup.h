// What deduplication makes of chunks: how much is there once, how long chunks are, and what other cuts than the exact
// ones cost.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/chunker.h>
#include <cutpoint/engine.h>
#include <cutpoint/fingerprint_index.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// How long chunks are: numbers of chunks in buckets of 1/128 of a power of two, so that what is read from them is true
/// to within 0.8 %; the smallest, the largest and the mean are exact. 58 KiB.
class length_distribution {
 public:
  /// Chunks of `least` to `most` bytes.
  struct bucket {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
    std::uint64_t chunk_count = 0;
  };

  void add(std::uint64_t length, std::uint64_t chunk_count);
  void merge(const length_distribution& other);

  [[nodiscard]] std::uint64_t chunk_count() const noexcept { return chunk_count_; }
  [[nodiscard]] std::uint64_t byte_count() const noexcept { return byte_count_; }

  // Of no chunks, nothing.
  [[nodiscard]] std::optional<std::uint64_t> min() const;
  [[nodiscard]] std::optional<std::uint64_t> max() const;
  [[nodiscard]] std::optional<double> mean() const;
  /// The length that `percent` of the chunks do not exceed (the nearest rank).
  [[nodiscard]] std::optional<std::uint64_t> percentile(double percent) const;

  /// Octaves in 2^`fineness` (at most 7) equal parts; from the first that has chunks to the last, empty ones between them
  /// included.
  [[nodiscard]] std::vector<bucket> buckets(unsigned fineness) const;

 private:
  static constexpr unsigned part_bits = 7;
  /// Lengths below 2^part_bits have a bucket each.
  static constexpr std::size_t bucket_count = (64 - part_bits + 1) << part_bits;

  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(bucket_count);
  std::uint64_t chunk_count_ = 0;
  std::uint64_t byte_count_ = 0;
  std::uint64_t min_ = 0;
  std::uint64_t max_ = 0;
};

/// Streams, their chunks, and those that are unique: the first of each fingerprint.
struct dedup_counts {
  std::uint64_t stream_count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t chunk_count = 0;
  std::uint64_t unique_bytes = 0;
  std::uint64_t unique_chunk_count = 0;

  [[nodiscard]] std::uint64_t duplicate_bytes() const noexcept { return bytes - unique_bytes; }
  /// The share of bytes that need not be stored, 0 to 1; nothing of no bytes.
  [[nodiscard]] std::optional<double> savings() const;
  /// Bytes for each that is stored, 1 or more; nothing of no bytes.
  [[nodiscard]] std::optional<double> elimination_ratio() const;
};

/// Counts what comes out of a feed. Chunks with equal fingerprints count as equal. A run of equal chunks costs as much as
/// one chunk. A unique chunk belongs to the kind of the stream that it was first seen in.
///
/// One thread at a time.
class dedup_tally final : public chunk_receiver {
 public:
  /// Gives a stream's kind, a small number of the caller's, when the stream begins.
  using kind_of_stream = std::function<std::size_t(std::uint64_t stream)>;

  /// For fingerprints of this kind, which must not be `none`. Without `kind_of`, all streams are of one kind.
  explicit dedup_tally(fingerprint_kind fingerprint, kind_of_stream kind_of = {});

  [[nodiscard]] status begin_stream(std::uint64_t stream) override;
  [[nodiscard]] status take(const delivered_chunk& c) override;
  [[nodiscard]] status end_stream(std::uint64_t stream, const status& outcome) override;

  [[nodiscard]] const dedup_counts& total() const noexcept { return total_; }
  /// By kind, up to the largest number that was given.
  [[nodiscard]] const std::vector<dedup_counts>& kinds() const noexcept { return kinds_; }
  [[nodiscard]] const length_distribution& lengths() const noexcept { return lengths_; }
  [[nodiscard]] const fingerprint_index& index() const noexcept { return index_; }

 private:
  kind_of_stream kind_of_;
  fingerprint_index index_;
  dedup_counts total_;
  std::vector<dedup_counts> kinds_;
  std::size_t kind_ = 0;  ///< of the stream under way
  length_distribution lengths_;
};

/// What kind of file a path names: the extension in lower case with its dot, or "(none)".
[[nodiscard]] std::string kind_of_file(std::string_view path);

/// What other cuts of the same streams have come to.
struct cut_differences {
  std::uint64_t chunk_count = 0;
  std::uint64_t bytes = 0;
  /// Chunks that are none of the exact cuts': nothing exact has their stream, offset and length.
  std::uint64_t dirty_chunk_count = 0;
  std::uint64_t dirty_bytes = 0;
  /// Ends of segments inside streams.
  std::uint64_t boundary_count = 0;

  /// Nothing where there is no boundary.
  [[nodiscard]] std::optional<double> dirty_bytes_per_boundary() const;
};

/// Compares the chunks of two feeds of the same streams: those of an exact join and those of another. Holds what one is
/// ahead of the other, equal chunks in a row as one.
///
/// The two faces may be called from two threads at once.
class cut_comparison {
 public:
  /// `segment_bytes` of the other feed, between whose segments the boundaries lie.
  explicit cut_comparison(std::uint64_t segment_bytes);
  cut_comparison(const cut_comparison&) = delete;
  cut_comparison& operator=(const cut_comparison&) = delete;

  /// Receivers for the two feeds; they go with the comparison.
  [[nodiscard]] chunk_receiver& exact() noexcept { return exact_; }
  [[nodiscard]] chunk_receiver& other() noexcept { return other_; }

  /// What is known so far: all of it when both feeds have finished.
  [[nodiscard]] cut_differences differences() const;

 private:
  /// Equal chunks in a row.
  struct equal_chunks {
    std::uint64_t stream_index = 0;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    std::uint64_t count = 0;

    [[nodiscard]] std::uint64_t end() const noexcept { return offset + length * count; }
  };

  class face final : public chunk_receiver {
   public:
    explicit face(cut_comparison& comparison) : comparison_(&comparison) {}
    [[nodiscard]] status begin_stream(std::uint64_t stream) override;
    [[nodiscard]] status take(const delivered_chunk& c) override;
    [[nodiscard]] status end_stream(std::uint64_t stream, const status& outcome) override;

    std::deque<equal_chunks> waiting;
    std::uint64_t ended_streams = 0;
    std::uint64_t stream_bytes = 0;  ///< of the stream under way

   private:
    cut_comparison* comparison_;
  };

  void compare();
  /// Passes over the first `count` chunks of the first row that waits.
  static void pass(face& side, std::uint64_t count);
  void pass_dirty(std::uint64_t count);

  mutable std::mutex mutex_;
  std::uint64_t segment_bytes_;
  face exact_;
  face other_;
  cut_differences found_;
};

}  // namespace cutpoint
