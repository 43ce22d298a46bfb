// A chunker: one algorithm with its parameters, checked. It says where the next cut is; it reads, copies and keeps
// nothing.
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

/// Stands for "no bound" in `chunker::reach`.
inline constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// What decides whether a position is a cut-point.
enum class candidate_kind {
  windowed,   ///< the bytes near it only, whatever chunk it lies in, so that candidates can be found anywhere at once
  restarted,  ///< as windowed, but within a window of the chunk's minimum also where the chunk began
  walking,    ///< where the chunk began
};

/// A contiguous piece of a stream, seen from the start of a chunk in it.
struct stream_window {
  /// Holds the chunk's first byte, at least min(behind, its offset in the stream) bytes before it, and what follows.
  byte_span bytes;
  /// Index in `bytes` of the chunk's first byte; less than `bytes.size()`.
  std::uint64_t start = 0;
  /// Whether the stream ends with the last of `bytes`.
  bool at_end = false;
};

/// What a map of an algorithm's candidates is made from: the positions that may end or decide a chunk, whatever chunk
/// they lie in.
struct candidate_map_needs {
  /// Bits for each position: kinds of candidates.
  std::uint64_t levels = 1;
  /// Bytes before a position that decide whether it is a candidate.
  std::uint64_t behind = 0;
  /// Bytes after it that do.
  std::uint64_t ahead = 0;
};

/// Where a stream is cut. Every algorithm is restartable: the cut that follows a start is a function of the bytes
/// within `behind` before it and `reach` after it, and of whether the stream ends there.
///
/// Immutable; a copy is a reference to the same state; every member may be called from any thread at once.
class chunker {
 public:
  chunker(const chunker&) = default;
  chunker& operator=(const chunker&) = default;

  /// Fills in what `parameters` leave out and checks them. Errors: invalid_argument, naming the parameter, its value
  /// and the bound.
  [[nodiscard]] static result<chunker> make(const algorithm_parameters& parameters);

  /// This chunker with its cuts found by `kernel`, which must be one for its parameters; its candidates are found as
  /// before. Null: by the reference.
  [[nodiscard]] chunker by(std::shared_ptr<const cut_kernel> kernel) const;

  /// The back end that finds the cuts: "scalar" for the reference.
  [[nodiscard]] std::string_view backend() const noexcept;

  /// Length of the chunk that begins at `window.start`, at least 1; nothing when that may depend on bytes past the
  /// window, so that the caller must show more. A window of `reach()` bytes from the start on, or one that ends the
  /// stream, always decides; so does one that goes on more than `lookahead()` bytes past the cut, but for repmaxcdc
  /// and for tttd's backup cuts, which are known only at the reach.
  [[nodiscard]] std::optional<std::uint64_t> next_cut(const stream_window& window) const noexcept;

  /// What a map of candidates needs; nothing where the algorithm has no candidates apart from chunks. With a map, the
  /// bytes are looked at once, in stretches of any size and in any order, and chunks are found by walking its bits.
  [[nodiscard]] std::optional<candidate_map_needs> candidate_map() const noexcept;

  /// Marks the candidates among `count` positions, the first of which is index `window.start` of `window.bytes` and
  /// `position` of the sequence that `map` maps. Clears nothing. Only where there is a `candidate_map`.
  ///
  /// The window has all those positions (`count` may be 0), at least min(behind, its offset in the stream) bytes before
  /// the first, and at least `ahead` after the last unless the stream ends with the window. A position without the bytes
  /// that a test needs, at either end of the stream, is no candidate; no chunk could be cut there.
  ///
  /// What it costs is linear in `count + ahead`. Threads may call it at once as `candidate_bits` allows.
  void find_candidates(const stream_window& window, std::uint64_t count, std::uint64_t position,
                       candidate_bits& map) const noexcept;

  /// As `next_cut(window)`, and always what that gives, from marked candidates and (almost) without a look at the bytes.
  /// `position` is that of `window.start` in the sequence that `candidates` maps. Of the `reach()` positions from there
  /// on, those must be filled in whose `ahead` bytes the window shows; what is marked elsewhere has no effect, so that
  /// one map of a stream serves every window on it. A cut may lie past what is filled in, by up to `ahead`. The map's
  /// capacity is at least the number of positions to be filled in.
  [[nodiscard]] std::optional<std::uint64_t> next_cut(const stream_window& window, const candidate_bits& candidates,
                                                      std::uint64_t position) const noexcept;

  /// Every chunk of a whole stream, in order.
  [[nodiscard]] std::vector<chunk> find_cuts(byte_span stream) const;

  /// How many bytes from a chunk's start on its cut may depend on; `unlimited` where there is no maximum.
  [[nodiscard]] std::uint64_t reach() const noexcept;
  /// How many bytes past a cut it may depend on.
  [[nodiscard]] std::uint64_t lookahead() const noexcept;
  /// What decides a cut-point.
  [[nodiscard]] candidate_kind candidates() const noexcept;
  /// How many bytes before a chunk's start its cut may depend on.
  [[nodiscard]] std::uint64_t behind() const noexcept;
  /// The parameters, none left out.
  [[nodiscard]] const algorithm_parameters& parameters() const noexcept;
  /// Names the cuts: equal strings make equal cuts, now and in every later release. `parse_canonical` reads it.
  [[nodiscard]] const std::string& canonical() const noexcept;

 private:
  class implementation;
  template <class Reference>
  class implementation_of;

  explicit chunker(std::shared_ptr<const implementation> held) noexcept;
  [[nodiscard]] std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept;

  std::shared_ptr<const implementation> implementation_;
  std::shared_ptr<const cut_kernel> kernel_;  ///< null: the reference cuts
};

}  // namespace cutpoint
