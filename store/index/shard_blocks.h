// A bounded cache of blocks of shards' entries.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <cutpoint/storage.h>

namespace cutpoint::store {

/// Keeps the block that was read last in each of its slots. Not thread-safe.
class shard_blocks {
 public:
  static constexpr std::size_t entry_bytes = 12;
  static constexpr std::size_t block_entries = 341;  ///< a page has so many
  static constexpr std::size_t usual_bytes = 8 * MiB;

  /// Memory: at most `memory_bytes`, which are taken as blocks are read.
  explicit shard_blocks(std::size_t memory_bytes = usual_bytes) : slots_(memory_bytes / sizeof(block) + 1) {}
  shard_blocks(const shard_blocks& other) : slots_(other.slots_.size()) {}  ///< an empty cache of the same size
  shard_blocks& operator=(const shard_blocks& other) {
    slots_ = std::vector<std::unique_ptr<block>>(other.slots_.size());
    return *this;
  }
  shard_blocks(shard_blocks&&) noexcept = default;
  shard_blocks& operator=(shard_blocks&&) noexcept = default;
  ~shard_blocks() = default;

  /// Returns `count` entries from a position on, at most `block_entries`. They are valid until the next call. `shard` is a
  /// number that no other shard of this process has. Errors: those of the object.
  [[nodiscard]] result<const std::uint8_t*> read(std::uint64_t shard, const object_reader& object,
                                                 std::uint64_t position, std::size_t count) {
    const std::uint64_t mixed = (position * 0x9e3779b97f4a7c15 + shard * 0xc2b2ae3d27d4eb4f) >> 20;
    std::unique_ptr<block>& slot = slots_[mixed % slots_.size()];
    if (slot && slot->shard == shard && slot->position == position && slot->count >= count) return slot->bytes.data();
    if (!slot) slot = std::make_unique<block>();
    slot->shard = 0;
    if (status read = object.read(position, std::span(slot->bytes).first(count * entry_bytes)); !read.ok()) return read;
    slot->shard = shard;
    slot->position = position;
    slot->count = count;
    return slot->bytes.data();
  }

  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    const auto blocks = std::ranges::count_if(slots_, [](const auto& slot) { return slot != nullptr; });
    return slots_.size() * sizeof slots_[0] + static_cast<std::size_t>(blocks) * sizeof(block);
  }

 private:
  struct block {
    std::uint64_t shard = 0;
    std::uint64_t position = 0;
    std::size_t count = 0;
    std::array<std::uint8_t, block_entries * entry_bytes> bytes;
  };
  std::vector<std::unique_ptr<block>> slots_;
};

}  // namespace cutpoint::store
