// Implements chunkers: each refers to one reference, and perhaps to a cut kernel, behind one virtual call for each
// chunk.
#include <cutpoint/chunker.h>
#include <cutpoint/cut_cursor.h>

#include "host/algorithms/all.h"
#include "host/core/parameters.h"

namespace cutpoint {

/// The number of positions that are scanned, or marked by the reference if candidates are dense, at a time.
constexpr std::uint64_t scanned_block = 1 * MiB;

class chunker::checked_algorithm {
 public:
  virtual ~checked_algorithm() = default;
  virtual std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept = 0;
  virtual void find_candidates(const map_range& range, candidate_bits& map) const noexcept = 0;
  virtual std::uint64_t mapped_cut(byte_span bytes, std::uint64_t start, const candidate_bits& map,
                                   std::uint64_t position) const noexcept = 0;

  /// Returns the length that `cut()` gives for the chunk at `window.start`, if the window decides it.
  template <class Cut>
  std::optional<std::uint64_t> decided(const stream_window& window, Cut&& cut) const noexcept {
    assert(window.start < window.bytes.size());
    const std::uint64_t visible = window.bytes.size() - window.start;
    const bool sees_all = window.at_end || visible >= reach;
    if (!sees_all && !is_prefix_decided) return std::nullopt;
    const std::uint64_t length = cut();
    // A chunk that ends with the window may end there only because the window does.
    if (!sees_all && length + lookahead >= visible) return std::nullopt;
    return length;
  }

  algorithm_parameters parameters;
  std::string canonical;
  std::uint64_t reach = 0;
  std::uint64_t behind = 0;
  std::uint64_t lookahead = 0;
  candidate_kind candidates = candidate_kind::walking;
  std::optional<candidate_map_needs> candidate_map;
  std::optional<std::uint64_t> fixed_chunk_bytes;
  std::optional<double> expected_chunk_bytes;
  bool is_decided_by_lookahead = true;
  bool is_prefix_decided = false;
};

template <class Reference>
class chunker::checked_algorithm_of final : public checked_algorithm {
 public:
  explicit checked_algorithm_of(const typename Reference::parameters& values) : reference_(values) {
    parameters = values;
    canonical = canonical_of(parameters);
    reach = reference_.reach();
    behind = reference_.behind();
    lookahead = reference_.lookahead();
    candidates = Reference::candidates;
    candidate_map = reference_.candidate_map();
    fixed_chunk_bytes = reference_.fixed_chunk_bytes();
    expected_chunk_bytes = reference_.expected_chunk_bytes();
    is_decided_by_lookahead = reference_.is_decided_by_lookahead();
    is_prefix_decided = Reference::is_prefix_decided;
  }
  std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept override {
    return reference_.cut(bytes, start);
  }
  void find_candidates(const map_range& range, candidate_bits& map) const noexcept override {
    reference_.find_candidates(range, map);
  }
  std::uint64_t mapped_cut(byte_span bytes, std::uint64_t start, const candidate_bits& map,
                           std::uint64_t position) const noexcept override {
    return reference_.mapped_cut(bytes, start, map, position);
  }

 private:
  Reference reference_;
};

chunker::chunker(std::shared_ptr<const checked_algorithm> own) noexcept : implementation_(std::move(own)) {}

result<chunker> chunker::make(const algorithm_parameters& parameters) {
  CUTPOINT_TRY(const auto completed, complete(parameters));
  return std::visit(
      [](const auto& filled) {
        using reference = reference_of<std::decay_t<decltype(filled)>>;
        return chunker(std::make_shared<checked_algorithm_of<reference>>(filled));
      },
      completed);
}

chunker chunker::by(std::shared_ptr<const cut_kernel> kernel) const {
  chunker other = *this;
  other.kernel_ = std::move(kernel);
  return other;
}

std::string_view chunker::backend() const noexcept { return kernel_ ? kernel_->backend() : "scalar"; }

const candidate_scanner* chunker::scanner() const noexcept { return kernel_ ? kernel_->scanner() : nullptr; }

std::uint64_t chunker::cut(byte_span bytes, std::uint64_t start) const noexcept {
  return kernel_ ? kernel_->cut(bytes, start) : implementation_->cut(bytes, start);
}

std::optional<std::uint64_t> chunker::next_cut(const stream_window& window) const noexcept {
  return implementation_->decided(window, [&] { return cut(window.bytes, window.start); });
}

std::optional<std::uint64_t> chunker::next_cut(const stream_window& window, const candidate_bits& candidates,
                                               std::uint64_t position) const noexcept {
  assert(candidate_map());
  return implementation_->decided(
      window, [&] { return implementation_->mapped_cut(window.bytes, window.start, candidates, position); });
}

void chunker::find_candidates(const stream_window& window, std::uint64_t count, std::uint64_t position,
                              candidate_bits& map) const noexcept {
  assert(candidate_map() && window.start + count <= window.bytes.size());
  assert(window.at_end || window.bytes.size() - window.start - count >= candidate_map()->ahead);
  const std::uint64_t last = window.start + count;
  const auto mark = [&](std::uint64_t first, std::uint64_t end) {
    if (first < end) {
      implementation_->find_candidates({window.bytes, first, end, position + (first - window.start)}, map);
    }
  };
  std::uint64_t next = window.start;
  if (const candidate_scanner* scans = scanner(); scans != nullptr) {
    // The reference marks what is too near to an end of the stream.
    const std::uint64_t end =
        std::min(last, window.bytes.size() - std::min<std::uint64_t>(candidate_map()->ahead, window.bytes.size()));
    const std::uint64_t begin = std::max(next, candidate_map()->behind);
    if (begin + scans->least_count() <= end) {
      mark(next, begin);
      for (next = begin; next != end;) {
        const std::uint64_t stop = end - next < 2 * scanned_block ? end : next + scanned_block;
        if (!scans->scan(window.bytes, next, stop, position + (next - window.start), map)) mark(next, stop);
        next = stop;
      }
    }
  }
  mark(next, last);
}

std::vector<chunk> chunker::find_cuts(byte_span stream) const {
  std::vector<chunk> chunks;
  cut_cursor cursor(*this);
  for (std::uint64_t start = 0; start < stream.size(); start += chunks.back().length) {
    chunks.push_back({start, *cursor.next_cut({.bytes = stream, .start = start, .at_end = true}, start)});
  }
  return chunks;
}

std::optional<candidate_map_needs> chunker::candidate_map() const noexcept { return implementation_->candidate_map; }
std::uint64_t chunker::reach() const noexcept { return implementation_->reach; }
std::uint64_t chunker::lookahead() const noexcept { return implementation_->lookahead; }
bool chunker::is_decided_by_lookahead() const noexcept { return implementation_->is_decided_by_lookahead; }
std::optional<std::uint64_t> chunker::fixed_chunk_bytes() const noexcept { return implementation_->fixed_chunk_bytes; }
std::optional<double> chunker::expected_chunk_bytes() const noexcept { return implementation_->expected_chunk_bytes; }
candidate_kind chunker::candidates() const noexcept { return implementation_->candidates; }
std::uint64_t chunker::behind() const noexcept { return implementation_->behind; }
const algorithm_parameters& chunker::parameters() const noexcept { return implementation_->parameters; }
const std::string& chunker::canonical() const noexcept { return implementation_->canonical; }

}  // namespace cutpoint
