// A batch fingerprinter for BLAKE3. Leaves are compressed when there are enough of equal length to fill the vector
// lanes. When the memory for chaining values is used up, the remaining leaves and then the parents of all messages are
// compressed, level by level.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <hwy/cache_control.h>

#include "simd/hashes/blake3_kernel.h"
#include "simd/hashes/fingerprints.h"

namespace cutpoint::simd {

namespace {

using blake3::block_bytes;
using blake3::leaf_bytes;

using chaining_value = std::array<std::uint8_t, blake3::digest_bytes>;

/// The largest number of leaves in the queue, a power of two. A larger number would improve the use of vector lanes by
/// less than 1 %.
constexpr std::size_t most_leaves = 1024;
constexpr std::size_t subtree_bytes = most_leaves * leaf_bytes;

/// The bytes of a leaf that are prefetched when it is queued. Each leaf of a vector is a stream of its own, and these
/// are too short for the hardware prefetcher. The kernels prefetch the rest. On Zen 4 two to four blocks are within 2 %.
constexpr std::size_t prefetched_bytes = 3 * block_bytes;

std::size_t leaves_of(std::size_t bytes) { return bytes == 0 ? 1 : (bytes - 1) / leaf_bytes + 1; }

/// A message or an aligned byte range of one, and the place of its top.
struct tree {
  byte_span bytes;
  std::uint64_t first_leaf;  ///< number of its first leaf in the message
  std::uint32_t top_flags;   ///< `root` for a whole message, else 0
  std::uint8_t* output;
};

class blake3_fingerprinter final : public batch_fingerprinter {
 public:
  blake3_fingerprinter(const blake3_kernel& kernel, const blake3::start& start_state)
      : kernel_(kernel), start_state_(start_state) {
    values_.resize(most_leaves);
    for (std::vector<blake3_node>& nodes : leaves_) nodes.reserve(kernel_.lane_count);
    // Reserves all memory that a flush may need, because a flush must not fail for lack of memory.
    levels_.reserve(most_leaves / 2);
    nodes_.reserve(std::max(most_leaves / 2, leaves_.size() * kernel_.lane_count));
  }

  void submit(byte_span bytes, digest& destination) override {
    destination = {};
    destination.size = blake3::digest_bytes;
    if (bytes.size() > subtree_bytes) {
      make_long(bytes, destination);
    } else {
      add({.bytes = bytes, .first_leaf = 0, .top_flags = blake3::root, .output = destination.bytes.data()});
    }
  }

  status flush() override {
    finish();
    return {};
  }

 private:
  /// The chaining values of a tree on one level.
  struct level {
    chaining_value* values;
    std::size_t count;  ///< at least two
    std::uint32_t top_flags;
    std::uint8_t* output;
  };

  void add(const tree& t) {
    const std::size_t count = leaves_of(t.bytes.size());
    if (used_ + count > most_leaves) finish();
    chaining_value* values = &values_[std::exchange(used_, used_ + count)];
    for (std::size_t i = 0; i < count; ++i) {
      const byte_span leaf = t.bytes.subspan(i * leaf_bytes, std::min(leaf_bytes, t.bytes.size() - i * leaf_bytes));
      add_leaf({.bytes = leaf.data(),
                .output = count == 1 ? t.output : values[i].data(),
                .number = t.first_leaf + i,
                .length = static_cast<std::uint32_t>(leaf.size()),
                .first_flags = blake3::leaf_start,
                .last_flags = blake3::leaf_end | (count == 1 ? t.top_flags : 0)});
    }
    if (count > 1) levels_.push_back({values, count, t.top_flags, t.output});
  }

  void add_leaf(const blake3_node& leaf) {
    std::vector<blake3_node>& nodes = leaves_[leaf.block_count() - 1];
    for (std::size_t i = 0; i < std::min<std::size_t>(leaf.length, prefetched_bytes); i += block_bytes) {
      hwy::Prefetch(leaf.bytes + i);
    }
    nodes.push_back(leaf);
    if (nodes.size() < kernel_.lane_count) return;
    kernel_.compress(nodes.data(), nodes.size(), start_state_);
    nodes.clear();
  }

  /// Makes the tops of all trees that were added.
  void finish() {
    nodes_.clear();
    for (std::vector<blake3_node>& nodes : leaves_) {
      nodes_.insert(nodes_.end(), nodes.begin(), nodes.end());
      nodes.clear();
    }
    kernel_.compress(nodes_.data(), nodes_.size(), start_state_);
    while (!levels_.empty()) climb();
    used_ = 0;
  }

  /// Makes the next level of all trees. A value without a right neighbour moves up unchanged.
  void climb() {
    nodes_.clear();
    for (const level& l : levels_) {
      const bool is_top = l.count == 2;
      for (std::size_t i = 0; i + 1 < l.count; i += 2) {
        nodes_.push_back(parent_of(&l.values[i], is_top ? l.top_flags : 0, is_top ? l.output : l.values[i / 2].data()));
      }
    }
    kernel_.compress(nodes_.data(), nodes_.size(), start_state_);
    for (level& l : levels_) {
      if (l.count % 2 != 0) l.values[l.count / 2] = l.values[l.count - 1];
      l.count = (l.count + 1) / 2;
    }
    std::erase_if(levels_, [](const level& l) { return l.count == 1; });
  }

  /// Returns the parent of `values[0]` and `values[1]`.
  static blake3_node parent_of(const chaining_value* values, std::uint32_t top_flags, std::uint8_t* output) {
    return {.bytes = values->data(),
            .output = output,
            .number = 0,
            .length = block_bytes,
            .first_flags = blake3::parent,
            .last_flags = top_flags};
  }

  /// Makes the digest of a message that is too long for the queue, by aligned byte ranges. Their tops are the leaves of
  /// a tree, of which only the subtrees without a right neighbour are held.
  void make_long(byte_span bytes, digest& destination) {
    finish();
    std::array<chaining_value, blake3::most_subtrees> subtrees;
    std::size_t count = 0;
    const auto add_subtree = [&](std::uint64_t number, byte_span subtree) {
      add({.bytes = subtree, .first_leaf = number * most_leaves, .top_flags = 0, .output = subtrees[count++].data()});
      finish();
    };
    const auto join_last_two = [&](std::uint32_t top_flags, std::uint8_t* top) {
      const blake3_node parent = parent_of(&subtrees[--count - 1], top_flags, top);
      kernel_.compress(&parent, 1, start_state_);
    };
    std::uint64_t number = 0;
    for (; bytes.size() > subtree_bytes; bytes = bytes.subspan(subtree_bytes)) {
      add_subtree(number++, bytes.first(subtree_bytes));
      for (std::uint64_t finished = number; finished % 2 == 0; finished /= 2)
        join_last_two(0, subtrees[count - 2].data());
    }
    add_subtree(number, bytes);
    while (count > 2) join_last_two(0, subtrees[count - 2].data());
    join_last_two(blake3::root, destination.bytes.data());
  }

  const blake3_kernel& kernel_;
  blake3::start start_state_;
  std::vector<chaining_value> values_;  ///< chaining values of the queued leaves, and later of the levels above them
  std::size_t used_ = 0;
  std::array<std::vector<blake3_node>, leaf_bytes / block_bytes> leaves_;  ///< waiting leaves by their number of blocks
  std::vector<level> levels_;
  std::vector<blake3_node> nodes_;
};

}  // namespace

std::unique_ptr<batch_fingerprinter> make_blake3_fingerprinter(instruction_set set,
                                                               const std::optional<fingerprint_key>& key) {
  const blake3_kernel* kernel = blake3_kernel_of(set);
  if (kernel == nullptr) return nullptr;
  return std::make_unique<blake3_fingerprinter>(*kernel, blake3::start_of(key));
}

}  // namespace cutpoint::simd
