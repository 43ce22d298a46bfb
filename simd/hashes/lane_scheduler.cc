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

/// How many messages wait for each lane before the kernel runs. Half of them are kept for the flush, so that there is
/// something to fill lanes with until near its end.
constexpr std::size_t waiting_for_each_lane = 8;

/// The time in which a message is hashed by itself, when all lanes take 1 for as many blocks: 0.3 to 0.5, whatever the
/// hash and the instruction set; less where the processor has instructions for SHA.
constexpr double time_alone = 0.4;

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

/// With the padding.
std::uint64_t blocks_of(const message& m) { return (m.bytes.size() + length_bytes) / block_bytes + 1; }

class lane_scheduler final : public batch_fingerprinter {
 public:
  explicit lane_scheduler(const lane_hash& hash) : hash_(hash), room_(waiting_for_each_lane * hash.lanes) {
    waiting_.reserve(room_);
    left_.fill(never);
    if (auto made = fingerprinter::make(hash.kind); made.ok()) alone_.emplace(std::move(*made));
  }

  void submit(byte_span bytes, digest& destination) override {
    waiting_.push_back({bytes, &destination});
    if (waiting_.size() == room_) run_until_waiting(room_ / 2);
  }

  status flush() override {
    // The longest first, so that all lanes end at about the same time.
    std::sort(waiting_.begin(), waiting_.end(),
              [](const message& a, const message& b) { return a.bytes.size() > b.bytes.size(); });
    hash_alone(count_better_alone());
    run_until_waiting(0);
    while (busy_ > 0) step();
    return {};
  }

 private:
  struct lane {
    message held;
    bool is_busy = false;
    bool is_padding = false;                ///< it has come to its padding
    const std::uint8_t* padding = nullptr;  ///< in `tail`
    std::size_t padding_blocks = 0;
    std::array<std::uint8_t, 3 * block_bytes> tail = {};
  };

  void run_until_waiting(std::size_t count) {
    for (std::size_t r = 0; r < hash_.lanes; ++r) {
      if (!lanes_[r].is_busy) start_next(r);
    }
    while (waiting_.size() - taken_ > count) step();
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = 0;
  }

  /// Runs the kernel until a lane comes to an end.
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

  /// An idle lane hashes what the lane that ends first does, for nothing.
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
    if (taken_ == waiting_.size()) return;
    lane& l = lanes_[r];
    l.held = waiting_[taken_++];
    l.is_busy = true;
    l.is_padding = false;
    ++busy_;
    beginning_ |= std::uint32_t{1} << r;
    prepare_padding(l);
    if (taken_ < waiting_.size()) prefetch(waiting_[taken_].bytes);
    next_[r] = l.held.bytes.data();
    left_[r] = l.held.bytes.size() / block_bytes;
    if (left_[r] == 0) go_on_to_padding(r);
  }

  /// What a lane will read before the kernel's own prefetches help.
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

  /// What is left of the bytes after whole blocks, a one, zeros, and the length in bits. Made before the lane's first
  /// block: read right after it was written it would keep the kernel waiting. The one stands at a fixed place and the
  /// bytes before it, so that nothing but a short message is copied in a varying size.
  static void prepare_padding(lane& l) {
    const byte_span bytes = l.held.bytes;
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
    digest made;
    for (std::size_t i = 0; i < hash_.state_words; ++i) {
      store_big_endian(state_[i * hash_.lanes + r], made.bytes.data() + 4 * i);
    }
    made.size = static_cast<std::uint8_t>(4 * hash_.state_words);
    *lanes_[r].held.destination = made;
  }

  /// How many of the longest messages had better not occupy a lane while the others idle.
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
      const double time = time_alone * static_cast<double>(outside) + time_in_lanes;
      if (time < least_time) {
        least_time = time;
        best = count;
      }
      if (count == waiting_.size()) return best;
      outside += longest;
      in_lanes -= longest;
    }
  }

  /// Hashes the first `count` of the waiting messages one after the other, but leaves them to the lanes, which need no
  /// memory, as soon as the library fails, or has no memory even to say so.
  void hash_alone(std::size_t count) noexcept {
    try {
      for (; taken_ < count; ++taken_) {
        const result<digest> made = (*alone_)(waiting_[taken_].bytes);
        if (!made.ok()) return;
        *waiting_[taken_].destination = *made;
      }
    } catch (const std::bad_alloc&) {
      return;
    }
  }

  lane_hash hash_;
  std::size_t room_;
  std::vector<message> waiting_;
  std::size_t taken_ = 0;  ///< of the waiting, while lanes run
  std::size_t busy_ = 0;   ///< lanes
  std::optional<fingerprinter> alone_;

  std::array<lane, most_lanes> lanes_ = {};
  std::array<std::uint64_t, most_lanes> left_ = {};        ///< blocks at `next_`
  std::array<const std::uint8_t*, most_lanes> next_ = {};  ///< block of the lane
  std::uint32_t beginning_ = 0;                            ///< bit r: lane r is before its first block
  alignas(64) std::array<std::uint32_t, 8 * most_lanes> state_ = {};
};

}  // namespace

std::unique_ptr<batch_fingerprinter> make_lane_fingerprinter(const lane_hash& hash) {
  return std::make_unique<lane_scheduler>(hash);
}

}  // namespace cutpoint::simd
