// A chunker: an algorithm with checked parameters, which says where the next cut of a stream is.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/algorithms.h>
#include <cutpoint/bytes.h>
#include <cutpoint/candidates.h>
#include <cutpoint/cut_kernel.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// The value of `chunker::reach` if a cut may depend on any number of bytes.
inline constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// What decides whether a position is a candidate.
enum class candidate_kind {
  windowed,   ///< the bytes near the position only, so that candidates can be found anywhere before chunks are known
  restarted,  ///< as windowed, but also the chunk's start for positions within one window after the chunk's minimum
  walking,    ///< the chunk's start
};

/// A contiguous byte range of a stream, seen from the start of a chunk in it.
struct stream_window {
  /// Contains at least min(behind(), the chunk's offset in the stream) bytes before the chunk, its first byte, and any
  /// number of bytes after that.
  byte_span bytes;
  /// The index in `bytes` of the chunk's first byte; less than `bytes.size()`.
  std::uint64_t start = 0;
  /// Whether the stream ends after the last of `bytes`.
  bool at_end = false;
};

/// Describes the candidate map that an algorithm needs. A candidate is a position that may end a chunk, or decide where
/// it ends, whatever its start is.
struct candidate_map_needs {
  /// The number of bits for each position, one for each kind of candidate.
  std::uint64_t levels = 1;
  /// The number of bytes before a position that decide, with its own byte, whether it is a candidate.
  std::uint64_t behind = 0;
  /// The number of bytes after a position that decide whether it is a candidate.
  std::uint64_t ahead = 0;
  /// The number of positions at the beginning of each chunk whose candidates are not used.
  std::uint64_t unused = 0;
  /// Whether a map costs less than cutting on speculation with the reference. It does if two chains usually meet late.
  bool is_cheaper_than_speculation = false;
};

/// Finds the cuts of a stream. Every algorithm is restartable: the cut that follows a start depends only on the bytes
/// from `behind()` bytes before the start to `reach()` bytes after it, and on whether the stream ends there.
///
/// A chunker is immutable, and it reads, copies and keeps no data. A copy refers to the same state. Any thread may call
/// any member at any time.
class chunker {
 public:
  chunker(const chunker&) = default;
  chunker& operator=(const chunker&) = default;

  /// Completes `parameters` with the defaults of fields that are left out, and checks them. Errors: invalid_argument;
  /// the message names the parameter, its value and the bound.
  [[nodiscard]] static result<chunker> make(const algorithm_parameters& parameters);

  /// Returns this chunker with `kernel` to find its cuts, which must have been made for its parameters. If `kernel` is
  /// null, the reference finds them.
  [[nodiscard]] chunker by(std::shared_ptr<const cut_kernel> kernel) const;

  /// Returns the scanner of the kernel, or null if the reference finds the candidates. It is valid as long as a copy of
  /// this chunker is.
  [[nodiscard]] const candidate_scanner* scanner() const noexcept;

  /// Returns the name of the back end that finds the cuts; the reference is called "scalar".
  [[nodiscard]] std::string_view backend() const noexcept;

  /// Returns the length in bytes of the chunk that begins at `window.start`, at least 1. Returns nullopt if the cut may
  /// depend on bytes past the window; the caller must then provide a longer window.
  ///
  /// Three windows always decide a cut: one with `reach()` bytes from the start on, one at the end of the stream, and
  /// one that extends more than `lookahead()` bytes past the cut. The third does not hold if
  /// `is_decided_by_lookahead()` is false.
  [[nodiscard]] std::optional<std::uint64_t> next_cut(const stream_window& window) const noexcept;

  /// Returns the properties of the candidate map, or nullopt if the algorithm has no candidates that are independent of
  /// chunks. With a candidate map, the bytes are read once, in byte ranges of any size and in any order; chunks are
  /// then found from its bits.
  [[nodiscard]] std::optional<candidate_map_needs> candidate_map() const noexcept;

  /// Marks the candidates among `count` positions (0 is allowed). The first of them has index `window.start` in
  /// `window.bytes` and number `position` in the sequence that `map` covers. Clears no bits. The algorithm must have a
  /// `candidate_map()`.
  ///
  /// The window must contain all these positions, at least min(behind, the first one's offset in the stream) bytes
  /// before them, and at least `ahead` bytes after them unless the stream ends with the window. A position too near to
  /// an end of the stream for the test of its bytes is not a candidate; no chunk could be cut there.
  ///
  /// The cost is linear in `count + ahead`. Threads may call this function concurrently as far as `candidate_bits`
  /// allows.
  void find_candidates(const stream_window& window, std::uint64_t count, std::uint64_t position,
                       candidate_bits& map) const noexcept;

  /// Returns the same result as `next_cut(window)`, but finds it from marked candidates and reads almost no bytes.
  /// `position` is the number of `window.start` in the sequence that `candidates` covers.
  ///
  /// Of the `reach()` positions from there on, except the first `unused`, those must have been passed to
  /// `find_candidates` whose `ahead` bytes are in the window. Bits elsewhere have no effect, so one map of a stream
  /// serves every window of it. The cut may lie up to `ahead` bytes past the last of these positions. The capacity of
  /// the map must be at least the number of these positions.
  [[nodiscard]] std::optional<std::uint64_t> next_cut(const stream_window& window, const candidate_bits& candidates,
                                                      std::uint64_t position) const noexcept;

  /// Returns every chunk of a whole stream, in order.
  [[nodiscard]] std::vector<chunk> find_cuts(byte_span stream) const;

  /// Returns the number of bytes from a chunk's start on that its cut may depend on, or `unlimited` if chunks have no
  /// maximum size.
  [[nodiscard]] std::uint64_t reach() const noexcept;
  /// Returns the number of bytes after a cut that it may depend on.
  [[nodiscard]] std::uint64_t lookahead() const noexcept;
  /// Returns whether no cut depends on a byte more than `lookahead()` past it. If false, a cut may be chosen among
  /// several candidates and depend on all bytes up to the reach.
  [[nodiscard]] bool is_decided_by_lookahead() const noexcept;
  /// Returns the length of every chunk but the last of a stream, or nullopt if the content decides it.
  [[nodiscard]] std::optional<std::uint64_t> fixed_chunk_bytes() const noexcept;
  /// Returns the mean length of a chunk in a long random stream (PRUNE eq. 2), or nullopt for algorithms to which the
  /// formula does not apply. It is min + D (1 - (1 - 1/D)^(max - min)), where a position is a candidate with
  /// probability 1/D, or min + D if chunks have no maximum.
  [[nodiscard]] std::optional<double> expected_chunk_bytes() const noexcept;
  /// Returns the kind of the algorithm's candidates.
  [[nodiscard]] candidate_kind candidates() const noexcept;
  /// Returns the look-behind: the number of bytes before a chunk's start that its cut may depend on.
  [[nodiscard]] std::uint64_t behind() const noexcept;
  /// Returns the parameters with all fields filled in.
  [[nodiscard]] const algorithm_parameters& parameters() const noexcept;
  /// Returns the canonical string, which `parse_canonical` reads. Equal strings give equal cuts, in this and every
  /// later release.
  [[nodiscard]] const std::string& canonical() const noexcept;

 private:
  class checked_algorithm;
  template <class Reference>
  class checked_algorithm_of;

  explicit chunker(std::shared_ptr<const checked_algorithm> own) noexcept;
  [[nodiscard]] std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept;

  std::shared_ptr<const checked_algorithm> implementation_;
  std::shared_ptr<const cut_kernel> kernel_;  ///< null if the reference finds the cuts
};

}  // namespace cutpoint
