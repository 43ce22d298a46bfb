// The counts of deduplication: unique and duplicate chunks, lengths of chunks, and the cost of cuts that are not exact.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
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

/// A histogram of the lengths of chunks. Buckets are 1/128 of an octave wide, so percentiles are accurate to 0.8 %; the
/// minimum, the maximum and the mean are exact. It takes 58 KiB.
class length_distribution {
 public:
  /// The number of chunks of `least` to `most` bytes.
  struct bucket {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
    std::uint64_t chunk_count = 0;
  };

  void add(std::uint64_t length, std::uint64_t chunk_count);
  void merge(const length_distribution& other);

  [[nodiscard]] std::uint64_t chunk_count() const noexcept { return chunk_count_; }
  [[nodiscard]] std::uint64_t byte_count() const noexcept { return byte_count_; }

  // These return nullopt if there are no chunks.
  [[nodiscard]] std::optional<std::uint64_t> min() const;
  [[nodiscard]] std::optional<std::uint64_t> max() const;
  [[nodiscard]] std::optional<double> mean() const;
  /// Returns the length that `percent` of the chunks do not exceed (the nearest rank).
  [[nodiscard]] std::optional<std::uint64_t> percentile(double percent) const;

  /// Returns buckets that divide each octave into 2^`fineness` equal parts, `fineness` at most 7: from the first bucket
  /// with chunks to the last one.
  [[nodiscard]] std::vector<bucket> buckets(unsigned fineness) const;

 private:
  static constexpr unsigned fraction_bits = 7;
  // Lengths below 2^fraction_bits have a bucket each.
  static constexpr std::size_t bucket_count = (64 - fraction_bits + 1) << fraction_bits;

  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(bucket_count);
  std::uint64_t chunk_count_ = 0;
  std::uint64_t byte_count_ = 0;
  std::uint64_t min_ = 0;
  std::uint64_t max_ = 0;
};

/// Counts of streams, chunks, and unique chunks. The first chunk with a digest is unique.
struct dedup_counts {
  std::uint64_t stream_count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t chunk_count = 0;
  std::uint64_t unique_bytes = 0;
  std::uint64_t unique_chunk_count = 0;

  [[nodiscard]] std::uint64_t duplicate_bytes() const noexcept { return bytes - unique_bytes; }
  /// Returns the share of bytes that need not be stored, 0 to 1; nullopt if there are no bytes.
  [[nodiscard]] std::optional<double> savings() const;
  /// Returns the number of bytes for each byte that is stored, 1 or more; nullopt if there are no bytes.
  [[nodiscard]] std::optional<double> elimination_ratio() const;

  dedup_counts& operator+=(const dedup_counts& other) noexcept;
};

/// Counts the chunks of a feed. Chunks with equal digests count as equal. A run of equal chunks costs as much as one
/// chunk. A unique chunk belongs to the kind of the stream in which it was seen first.
///
/// Digests are inserted into the index in batches, if `select` is called, else one by one. A failure of the index ends
/// the feed. Not thread-safe.
class dedup_tally final : public chunk_receiver {
 public:
  /// Returns a stream's kind, a small number that the caller chooses, when the stream begins.
  using kind_of_stream = std::function<std::size_t(std::uint64_t stream)>;

  /// Counts with a `memory_index` for fingerprints of this kind, which must not be `none`. Without `kind_of`, all
  /// streams are of one kind.
  explicit dedup_tally(fingerprint_kind fingerprint, kind_of_stream kind_of = {});
  /// Counts with another index. Chunks whose digests it has already are duplicates.
  explicit dedup_tally(std::unique_ptr<fingerprint_index> index, kind_of_stream kind_of = {});

  [[nodiscard]] status begin_stream(std::uint64_t stream) override;
  [[nodiscard]] status take(const delivered_chunk& chunk) override;
  [[nodiscard]] status end_stream(std::uint64_t stream, const status& outcome) override;
  [[nodiscard]] bool has_select() const noexcept override { return true; }
  /// Inserts the digests of chunks that will be taken next. Asks for no work.
  [[nodiscard]] status select(std::span<const delivered_chunk> chunks,
                              std::span<std::unique_ptr<chunk_work>> work) override;

  /// Adds what was counted elsewhere: the streams and chunks of a kind, or chunks of a length. The caller's index has the digests.
  void add_counts(std::size_t kind, const dedup_counts& counts);
  void add_lengths(std::uint64_t length, std::uint64_t chunk_count) { lengths_.add(length, chunk_count); }

  [[nodiscard]] const dedup_counts& total() const noexcept { return total_; }
  /// Returns the counts of each kind, up to the largest number that was given.
  [[nodiscard]] const std::vector<dedup_counts>& kinds() const noexcept { return kinds_; }
  [[nodiscard]] const length_distribution& lengths() const noexcept { return lengths_; }
  [[nodiscard]] const fingerprint_index& index() const noexcept { return *index_; }

 private:
  kind_of_stream kind_of_;
  std::unique_ptr<fingerprint_index> index_;
  std::vector<digest> selected_;
  std::vector<index_answer> answers_;  ///< for `selected_`
  std::size_t answered_ = 0;           ///< digests at the front that were inserted
  std::size_t delivered_ = 0;          ///< of them, those whose chunks have been taken
  dedup_counts total_;
  std::vector<dedup_counts> kinds_;
  std::size_t kind_ = 0;  ///< of the stream that has begun
  length_distribution lengths_;
};

/// Returns the kind of file that a path names: the extension in lower case with its dot, or "(none)".
[[nodiscard]] std::string kind_of_file(std::string_view path);

/// How the chunks of another join differ from the exact ones.
struct cut_differences {
  std::uint64_t chunk_count = 0;
  std::uint64_t bytes = 0;
  /// Chunks for which there is no exact chunk with the same stream, offset and length.
  std::uint64_t dirty_chunk_count = 0;
  std::uint64_t dirty_bytes = 0;
  /// The number of segments' ends inside streams.
  std::uint64_t boundary_count = 0;

  /// Returns nullopt if there is no boundary.
  [[nodiscard]] std::optional<double> dirty_bytes_per_boundary() const;
};

/// Compares the chunks of two feeds of the same streams: one with the exact join and one with another. Holds the chunks
/// by which one feed is ahead of the other; equal chunks in a row take the memory of one.
///
/// Two threads may call the two receivers at once.
class cut_comparison {
 public:
  /// `segment_bytes` is the size of the other feed's segments, between which the boundaries lie.
  explicit cut_comparison(std::uint64_t segment_bytes);
  cut_comparison(const cut_comparison&) = delete;
  cut_comparison& operator=(const cut_comparison&) = delete;

  /// The receivers for the two feeds, which the comparison owns.
  [[nodiscard]] chunk_receiver& exact() noexcept { return exact_; }
  [[nodiscard]] chunk_receiver& other() noexcept { return other_; }

  /// Returns the differences so far. They are complete when both feeds have finished.
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
    std::uint64_t stream_bytes = 0;  ///< of the stream that has begun

   private:
    cut_comparison* comparison_;
  };

  void compare();
  /// Drops the first `count` chunks that wait.
  static void pass(face& cuts, std::uint64_t count);
  void pass_dirty(std::uint64_t count);

  mutable std::mutex mutex_;
  std::uint64_t segment_bytes_;
  face exact_;
  face other_;
  cut_differences differences_;
};

}  // namespace cutpoint
