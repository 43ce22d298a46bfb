// A sample of the inputs, in memory, that preserves duplicates.
//
// Whether the sample contains a byte range of an input depends only on the content of the range. So it has all copies
// of a duplicate or none.
//
// Inputs are cut by content into super-chunks of about 320 KiB, and each of these into chunks of about 640 bytes. The
// key of a super-chunk is the smallest hash of its chunks, hashed again so that keys are evenly distributed. Two
// super-chunks that have most chunks in common probably have the same key (Broder's theorem; Extreme Binning finds
// similar files in this way). The sample keeps the super-chunks whose key, as a fraction of 2^64, is below the wanted
// share. The key of a super-chunk that consists of one byte value is a number drawn from a counter instead; otherwise
// all ranges of zeros would be kept, or none.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// The size of a sample.
struct sample_size {
  /// The share of the input bytes to keep, 0 to 1.
  double share = 0.1;
  /// If `share` of the input is less than this, a larger share is kept, which gives about `least_bytes`.
  std::uint64_t least_bytes = 0;
  /// The largest size of the sample in bytes. This much address space is reserved at once.
  std::uint64_t most_bytes = 1 * GiB;
  /// Whether the share is reduced if the sample would exceed `most_bytes`. Otherwise that is an error.
  bool may_shrink = false;

  [[nodiscard]] bool is_all() const { return share >= 1; }
};

/// A byte range of an input that the sample contains.
struct sampled_range {
  std::uint64_t begin = 0;   ///< position of its first byte in the sample
  std::uint64_t length = 0;  ///< in bytes
  std::uint64_t offset = 0;  ///< offset of its first byte in the input
  std::uint64_t input = 0;   ///< number of its input
  bool is_cut_off = false;   ///< whether the input has more bytes after it
};

/// Returns the chunker that cuts inputs into super-chunks. Thread-safe.
[[nodiscard]] const chunker& super_chunks();

/// Collects super-chunks in memory. Call `add` for the super-chunks of an input in order, `end_input` after the last,
/// and `finish` after the last input. Not thread-safe; the const functions may be called from several threads at once.
class content_sample {
 public:
  /// Makes an empty sample. Errors: as for `fingerprinter::make`.
  [[nodiscard]] static result<content_sample> make(const sample_size& size);

  /// Offers `count` equal super-chunks in a row, which `super_chunks()` has cut, and copies those that it keeps.
  /// `input` is the number of their input. Errors: memory_limit, if the sample would exceed `most_bytes` and may not
  /// shrink; those of the hash.
  [[nodiscard]] status add(std::uint64_t input, byte_span bytes, std::uint64_t count);
  /// Ends an input.
  void end_input(std::uint64_t input);
  /// Reduces the sample to the wanted size, now that the size of all inputs is known.
  void finish();

  /// Returns the sample, or the bytes of one of its ranges. The span is valid until the sample changes.
  [[nodiscard]] byte_span bytes() const { return {bytes_.get(), byte_count_}; }
  [[nodiscard]] byte_span bytes(const sampled_range& stream) const {
    return bytes().subspan(stream.begin, stream.length);
  }
  /// Returns the ranges of the sample in the order of the inputs. Neighbouring super-chunks make one range.
  [[nodiscard]] std::vector<sampled_range> streams() const;
  /// Returns the number of bytes that were offered.
  [[nodiscard]] std::uint64_t read_bytes() const { return read_; }
  /// Returns the share of keys that are kept, 0 to 1. The share of bytes differs, because duplicates have equal keys.
  [[nodiscard]] double share() const { return static_cast<double>(bound_) / static_cast<double>(everything); }

 private:
  static constexpr std::uint64_t everything = std::numeric_limits<std::uint64_t>::max();

  struct sampled_chunk {
    std::uint64_t key;
    std::uint64_t input;
    std::uint64_t offset;  ///< offset in the input
    std::uint64_t begin;   ///< position in the sample
    std::uint64_t length;
    bool is_last = false;  ///< whether it ends its input
  };

  content_sample(const sample_size& size, const chunker& small_chunks, fingerprinter hash);

  [[nodiscard]] status add_one(std::uint64_t input, byte_span bytes);
  [[nodiscard]] result<std::uint64_t> key_of(byte_span bytes);
  [[nodiscard]] std::uint64_t wanted_bound() const;
  /// Makes room for `count` bytes by dropping super-chunks with large keys. Errors: memory_limit, if it may not shrink.
  [[nodiscard]] status make_room(std::uint64_t count);
  /// Drops the super-chunks whose key is `bound` or more.
  void drop_from(std::uint64_t bound);

  sample_size size_;
  chunker small_chunks_;
  fingerprinter hash_;
  std::unique_ptr<std::uint8_t[]> bytes_;  ///< `most_bytes`, for which the system provides memory on the first write
  std::uint64_t byte_count_ = 0;
  std::uint64_t read_ = 0;
  std::uint64_t bound_ = everything;  ///< keys below this are kept; all keys if it is `everything`
  std::vector<sampled_chunk> chunks_;
  std::uint64_t input_bytes_ = 0;  ///< bytes of the present input so far
  std::uint64_t uniform_count_ = 0;
};

}  // namespace cutpoint
