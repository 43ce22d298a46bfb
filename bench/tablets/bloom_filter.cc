#include "bench/tablets/bloom_filter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace cutpoint::bench {

namespace {

/// Positions of a digest's bits. A digest is as good as random, so two words of it give all functions (Kirsch and Mitzenmacher).
class positions {
 public:
  positions(const digest& content, std::uint64_t bits) noexcept : bits_(bits) {
    std::memcpy(&next_, content.bytes.data(), sizeof next_);
    std::memcpy(&step_, content.bytes.data() + sizeof next_, sizeof step_);
    step_ |= 1;
  }
  std::uint64_t next() noexcept { return std::exchange(next_, next_ + step_) % bits_; }

 private:
  std::uint64_t bits_;
  std::uint64_t next_ = 0;
  std::uint64_t step_ = 0;
};

}  // namespace

bloom_filter::bloom_filter(std::uint64_t bits, unsigned functions)
    : bits_(bits), functions_(functions), words_((bits + 63) / 64) {}

void bloom_filter::add(const digest& content) noexcept {
  if (bits_ == 0) return;
  positions each(content, bits_);
  for (unsigned i = 0; i < functions_; ++i) {
    const std::uint64_t position = each.next();
    words_[position / 64] |= std::uint64_t{1} << position % 64;
  }
}

bool bloom_filter::may_have(const digest& content) const noexcept {
  if (bits_ == 0) return true;
  positions each(content, bits_);
  for (unsigned i = 0; i < functions_; ++i) {
    const std::uint64_t position = each.next();
    if ((words_[position / 64] >> position % 64 & 1) == 0) return false;
  }
  return true;
}

unsigned bloom_filter::best_functions(std::uint64_t bits, std::uint64_t digests) noexcept {
  if (digests == 0) return 1;
  const double best = std::log(2.0) * static_cast<double>(bits) / static_cast<double>(digests);
  return static_cast<unsigned>(std::clamp(std::round(best), 1.0, 64.0));
}

double bloom_filter::false_positives(std::uint64_t bits, unsigned functions, std::uint64_t digests) noexcept {
  if (bits == 0) return 1;
  const double k = functions;
  return std::pow(1 - std::exp(-k * static_cast<double>(digests) / static_cast<double>(bits)), k);
}

}  // namespace cutpoint::bench
