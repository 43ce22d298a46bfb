// The chunkers of a feed: each stream has one of them, by the number of its rule.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <cutpoint/chunker.h>
#include <cutpoint/engine.h>

namespace cutpoint {

/// Has at least one chunker. The limits below are the largest of all, so that they serve every stream of the feed.
class stream_chunkers {
 public:
  stream_chunkers(const chunker& only) : chunkers_{only} {}  // NOLINT(*-explicit-*): most feeds have one
  /// Those that the options name: `cuts` for rule 0, then `rule_cuts`.
  explicit stream_chunkers(const feed_options& options) : chunkers_{options.cuts} {
    chunkers_.insert(chunkers_.end(), options.rule_cuts.begin(), options.rule_cuts.end());
  }

  [[nodiscard]] std::size_t size() const noexcept { return chunkers_.size(); }
  [[nodiscard]] const chunker& operator[](std::size_t rule) const noexcept { return chunkers_[rule]; }
  [[nodiscard]] auto begin() const noexcept { return chunkers_.begin(); }
  [[nodiscard]] auto end() const noexcept { return chunkers_.end(); }

  [[nodiscard]] std::uint64_t reach() const noexcept { return largest(&chunker::reach); }
  [[nodiscard]] std::uint64_t behind() const noexcept { return largest(&chunker::behind); }

 private:
  [[nodiscard]] std::uint64_t largest(std::uint64_t (chunker::*limit)() const noexcept) const noexcept {
    std::uint64_t most = 0;
    for (const chunker& each : chunkers_) most = std::max(most, (each.*limit)());
    return most;
  }

  std::vector<chunker> chunkers_;
};

}  // namespace cutpoint
