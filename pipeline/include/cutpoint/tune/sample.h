// A sample of the inputs, in memory, in which what is there twice is there twice: whether a stretch of an input is in it
// depends on the stretch's content alone.
//
// Inputs are cut into super-chunks of some 320 KiB by their content. The key of one is the smallest hash of the chunks of
// some 640 bytes in it, hashed again, so that it is a number drawn evenly by content; two super-chunks that are alike in most of
// their chunks most likely have the same key (Broder's theorem; Extreme Binning finds similar files so). Kept are those
// whose key is below the share that is wanted. A super-chunk of one byte value goes by its number instead: all zeros are
// alike, and would be kept all or not at all.
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

/// How much is kept: `share` of what is read, and where that comes to less than `least_bytes`, so much of it that it is
/// about these.
struct sample_size {
  double share = 0.1;
  std::uint64_t least_bytes = 0;
  /// Never more. What does not fit is an error, or, where the sample `may_shrink`, the share is smaller.
  std::uint64_t most_bytes = 1 * GiB;
  bool may_shrink = false;

  [[nodiscard]] bool is_all() const { return share >= 1; }
};

/// A stretch of an input.
struct sampled_range {
  std::uint64_t begin = 0;  ///< in the sample
  std::uint64_t length = 0;
  std::uint64_t offset = 0;  ///< in its input
  bool is_cut_off = false;   ///< the input goes on after it
};

/// The chunker of super-chunks.
[[nodiscard]] const chunker& super_chunks();

/// Keeps super-chunks. One thread at a time.
class content_sample {
 public:
  /// Errors: those of the kernels that find keys.
  [[nodiscard]] static result<content_sample> make(const sample_size& size);

  /// The next super-chunk, or `count` equal ones, of an input that is counted from 0. Errors: memory_limit.
  [[nodiscard]] status add(std::uint64_t input, byte_span bytes, std::uint64_t count);
  /// That input has ended.
  void end_input(std::uint64_t input);
  /// Drops what is too much when all is known.
  void finish();

  [[nodiscard]] byte_span bytes() const { return {bytes_.get(), held_}; }
  [[nodiscard]] byte_span bytes(const sampled_range& stream) const {
    return bytes().subspan(stream.begin, stream.length);
  }
  /// Stretches in the order of the inputs. What was read without a gap is one.
  [[nodiscard]] std::vector<sampled_range> streams() const;
  [[nodiscard]] std::uint64_t read_bytes() const { return read_; }
  /// That was kept of what differs, 0 to 1.
  [[nodiscard]] double share() const { return static_cast<double>(bound_) / static_cast<double>(everything); }

 private:
  static constexpr std::uint64_t everything = std::numeric_limits<std::uint64_t>::max();

  struct kept {
    std::uint64_t key;
    std::uint64_t input;
    std::uint64_t offset;  ///< in the input
    std::uint64_t begin;   ///< in the sample
    std::uint64_t length;
    bool is_last = false;  ///< of its input
  };

  content_sample(const sample_size& size, chunker small_chunks, fingerprinter hash);

  [[nodiscard]] status add_one(std::uint64_t input, byte_span bytes);
  [[nodiscard]] result<std::uint64_t> key_of(byte_span bytes);
  [[nodiscard]] std::uint64_t wanted_bound() const;
  /// Drops until so much has room too. Errors: memory_limit.
  [[nodiscard]] status make_room(std::uint64_t count);
  void drop_from(std::uint64_t bound);

  sample_size size_;
  chunker small_chunks_;
  fingerprinter hash_;
  std::unique_ptr<std::uint8_t[]> bytes_;  ///< of `most_bytes`, which the system gives as they are written
  std::uint64_t held_ = 0;
  std::uint64_t read_ = 0;
  std::uint64_t bound_ = everything;  ///< keys are below it, or at it where it is `everything`
  std::vector<kept> kept_;
  std::uint64_t input_bytes_ = 0;  ///< of the input under way
  std::uint64_t uniform_count_ = 0;
};

}  // namespace cutpoint
