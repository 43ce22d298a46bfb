#include "simd/hashes/lane_scheduler.h"

#include <algorithm>
#include <limits>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace cutpoint::simd {

namespace {

constexpr std::size_t block_bytes = 64;
constexpr std::size_t length_bytes = 8;

/// The number of messages that wait for each vector lane before the kernel runs. Half of them are kept for the flush,
/// so that vector lanes stay full until near its end.
constexpr std::size_t waiting_for_each_lane = 8;

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

template <class Word>
void store_big_endian(Word word, std::uint8_t* destination) {
  for (std::size_t i = 0; i < sizeof(Word); ++i) {
    destination[i] = static_cast<std::uint8_t>(word >> (8 * (sizeof(Word) - 1 - i)));
  }
}

struct message {
  byte_span bytes;
  digest* destination = nullptr;
};

/// Returns the number of blocks of a message, with its padding.
std::uint64_t blocks_of(const message& m) { return (m.bytes.size() + length_bytes) / block_bytes + 1; }

class lane_scheduler final : public batch_fingerprinter {
 public:
  explicit lane_scheduler(const lane_hash& hash) : hash_(hash), room_(waiting_for_each_lane * hash.lanes) {
    waiting_.reserve(room_);
    left_.fill(never);
    if (auto reference = fingerprinter::make(hash.kind); reference.ok()) alone_.emplace(std::move(*reference));
  }

  void submit(byte_span bytes, digest& destination) override {
    waiting_.push_back({bytes, &destination});
    if (waiting_.size() == room_) run_until_waiting(room_ / 2);
  }

  status flush() override {
    // The longest messages come first: then all vector lanes end at about the same time.
    std::sort(waiting_.begin(), waiting_.end(),
              [](const message& a, const message& b) { return a.bytes.size() > b.bytes.size(); });
    hash_alone(count_better_alone());
    run_until_waiting(0);
    while (busy_ > 0) step();
    return {};
  }

 private:
  struct lane {
    message input;
    bool is_busy = false;
    bool is_padding = false;                ///< whether it has reached its padding
    const std::uint8_t* padding = nullptr;  ///< first byte of the padding, in `tail`
    std::size_t padding_blocks = 0;
    std::array<std::uint8_t, 3 * block_bytes> tail = {};
  };

  void run_until_waiting(std::size_t count) {
    for (std::size_t r = 0; r < hash_.lanes; ++r) {
      if (!lanes_[r].is_busy) start_next(r);
    }
    while (waiting_.size() - next_waiting_ > count) step();
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(next_waiting_));
    next_waiting_ = 0;
  }

  /// Runs the kernel until a vector lane reaches the end of its blocks.
  void step() {
    const std::uint64_t blocks = *std::min_element(left_.begin(), left_.end());
    if (busy_ < hash_.lanes) occupy_idle_lanes();
    hash_.hash_blocks(state_.data(), next_.data(), blocks, std::exchange(beginning_, 0));
    for (std::size_t r = 0; r < hash_.lanes; ++r) {
      next_[r] += blocks * block_bytes;
      left_[r] -= blocks;
    }
    for (std::size_t r = 0; r < hash_.lanes; ++r) {
      if (left_[r] == 0) go_on(r);
    }
  }

  /// Lets idle vector lanes hash the same blocks as the one that ends first. The result is not used.
  void occupy_idle_lanes() {
    const auto shortest = static_cast<std::size_t>(std::min_element(left_.begin(), left_.end()) - left_.begin());
    for (std::size_t r = 0; r < hash_.lanes; ++r) {
      if (!lanes_[r].is_busy) next_[r] = next_[shortest];
    }
  }

  void go_on(std::size_t r) {
    if (!lanes_[r].is_padding) return go_on_to_padding(r);
    write_digest(r);
    lanes_[r].is_busy = false;
    left_[r] = never;
    --busy_;
    start_next(r);
  }

  void start_next(std::size_t r) {
    if (next_waiting_ == waiting_.size()) return;
    lane& l = lanes_[r];
    l.input = waiting_[next_waiting_++];
    l.is_busy = true;
    l.is_padding = false;
    ++busy_;
    beginning_ |= std::uint32_t{1} << r;
    prepare_padding(l);
    if (next_waiting_ < waiting_.size()) prefetch(waiting_[next_waiting_].bytes);
    next_[r] = l.input.bytes.data();
    left_[r] = l.input.bytes.size() / block_bytes;
    if (left_[r] == 0) go_on_to_padding(r);
  }

  /// Prefetches what a vector lane reads before the kernel's own prefetches take effect.
  static void prefetch(byte_span bytes) {
    if (bytes.empty()) return;
    const std::size_t head = std::min(bytes.size(), prefetch_distance);
    for (std::size_t offset = 0; offset < head; offset += block_bytes) __builtin_prefetch(&bytes[offset]);
    __builtin_prefetch(&bytes.back());
  }

  void go_on_to_padding(std::size_t r) {
    lane& l = lanes_[r];
    l.is_padding = true;
    next_[r] = l.padding;
    left_[r] = l.padding_blocks;
  }

  /// Writes the last, incomplete block of the message, a one bit, zeros, and the length in bits. This is done before
  /// the vector lane's first block, because the kernel would wait for bytes that were written just before. The one bit
  /// has a fixed place with the message's bytes before it, so the length of a copy varies only for short messages.
  static void prepare_padding(lane& l) {
    const byte_span bytes = l.input.bytes;
    std::uint8_t* const one = l.tail.data() + block_bytes;
    if (bytes.size() >= block_bytes) {
      std::copy_n(bytes.last<block_bytes>().data(), block_bytes, one - block_bytes);
    } else {
      std::copy(bytes.begin(), bytes.end(), one - bytes.size());
    }
    *one = 0x80;
    std::fill_n(one + 1, block_bytes + length_bytes - 1, std::uint8_t{0});
    l.padding = one - bytes.size() % block_bytes;
    l.padding_blocks = (bytes.size() % block_bytes + length_bytes) / block_bytes + 1;
    store_big_endian(std::uint64_t{bytes.size()} * 8,
                     one - bytes.size() % block_bytes + l.padding_blocks * block_bytes - length_bytes);
  }

  void write_digest(std::size_t r) {
    digest value;
    for (std::size_t i = 0; i < hash_.state_words; ++i) {
      store_big_endian(state_[i * hash_.lanes + r], value.bytes.data() + 4 * i);
    }
    value.size = static_cast<std::uint8_t>(4 * hash_.state_words);
    *lanes_[r].input.destination = value;
  }

  /// Returns how many of the longest messages are better hashed alone than in a vector lane while the others idle.
  [[nodiscard]] std::size_t count_better_alone() const {
    if (!alone_) return 0;
    std::uint64_t longest_held = 0;
    std::uint64_t in_lanes = 0;  // blocks
    for (std::size_t r = 0; r < hash_.lanes; ++r) {
      if (!lanes_[r].is_busy) continue;
      longest_held = std::max(longest_held, left_[r]);
      in_lanes += left_[r];
    }
    for (const message& m : waiting_) in_lanes += blocks_of(m);

    std::uint64_t outside = 0;
    std::size_t best = 0;
    double least_time = std::numeric_limits<double>::max();
    for (std::size_t count = 0;; ++count) {
      const std::uint64_t longest = count < waiting_.size() ? blocks_of(waiting_[count]) : 0;
      const double time_in_lanes = std::max(static_cast<double>(std::max(longest, longest_held)),
                                            static_cast<double>(in_lanes) / static_cast<double>(hash_.lanes));
      const double time = hash_.time_alone * static_cast<double>(outside) + time_in_lanes;
      if (time < least_time) {
        least_time = time;
        best = count;
      }
      if (count == waiting_.size()) return best;
      outside += longest;
      in_lanes -= longest;
    }
  }

  /// Hashes the first `count` waiting messages one after the other. If the library fails or runs out of memory, leaves
  /// the rest to the vector lanes, which need no memory.
  void hash_alone(std::size_t count) noexcept {
    try {
      for (; next_waiting_ < count; ++next_waiting_) {
        const result<digest> value = (*alone_)(waiting_[next_waiting_].bytes);
        if (!value.ok()) return;
        *waiting_[next_waiting_].destination = *value;
      }
    } catch (const std::bad_alloc&) {
      return;
    }
  }

  lane_hash hash_;
  std::size_t room_;
  std::vector<message> waiting_;
  std::size_t next_waiting_ = 0;  ///< waiting messages that were given to vector lanes
  std::size_t busy_ = 0;          ///< vector lanes that have a message
  std::optional<fingerprinter> alone_;

  std::array<lane, most_lanes> lanes_ = {};
  std::array<std::uint64_t, most_lanes> left_ = {};        ///< blocks left at `next_`
  std::array<const std::uint8_t*, most_lanes> next_ = {};  ///< next block of each vector lane
  std::uint32_t beginning_ = 0;                            ///< bit r: vector lane r has not begun to hash
  alignas(64) std::array<std::uint32_t, 8 * most_lanes> state_ = {};
};

}  // namespace

std::unique_ptr<batch_fingerprinter> make_lane_fingerprinter(const lane_hash& hash) {
  return std::make_unique<lane_scheduler>(hash);
}

}  // namespace cutpoint::simd
