// Hashes a message: compresses its leaves from left to right, and keeps a stack of the complete subtrees.
#include "host/hash/blake3.h"

#include <algorithm>
#include <bit>

namespace cutpoint::blake3 {

namespace {

std::uint32_t load_word(const std::uint8_t* b) {
  return std::uint32_t{b[0]} | std::uint32_t{b[1]} << 8 | std::uint32_t{b[2]} << 16 | std::uint32_t{b[3]} << 24;
}

struct block {
  std::array<std::uint32_t, 16> message = {};
  std::uint32_t length = 0;
};

block block_of(byte_span bytes) {
  std::array<std::uint8_t, block_bytes> padded = {};
  std::copy(bytes.begin(), bytes.end(), padded.begin());
  block padded_block{.message = {}, .length = static_cast<std::uint32_t>(bytes.size())};
  for (std::size_t i = 0; i < padded_block.message.size(); ++i) padded_block.message[i] = load_word(&padded[4 * i]);
  return padded_block;
}

words compress(const words& chaining, const block& block, std::uint64_t counter, std::uint32_t flags) {
  std::array<std::uint32_t, 16> v = {};
  std::copy(chaining.begin(), chaining.end(), v.begin());
  std::copy_n(initial_words.begin(), 4, v.begin() + 8);
  v[12] = static_cast<std::uint32_t>(counter);
  v[13] = static_cast<std::uint32_t>(counter >> 32);
  v[14] = block.length;
  v[15] = flags;
  const auto mix = [&v](std::size_t a, std::size_t b, std::size_t c, std::size_t d, std::uint32_t x, std::uint32_t y) {
    v[a] += v[b] + x;
    v[d] = std::rotr(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = std::rotr(v[b] ^ v[c], 12);
    v[a] += v[b] + y;
    v[d] = std::rotr(v[d] ^ v[a], 8);
    v[c] += v[d];
    v[b] = std::rotr(v[b] ^ v[c], 7);
  };
  for (const message_order& order : message_orders) {
    const auto word = [&](std::size_t i) { return block.message[order[i]]; };
    for (std::size_t i = 0; i < 4; ++i) mix(i, 4 + i, 8 + i, 12 + i, word(2 * i), word(2 * i + 1));
    for (std::size_t i = 0; i < 4; ++i) {
      mix(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, word(8 + 2 * i), word(9 + 2 * i));
    }
  }
  words next;
  for (std::size_t i = 0; i < next.size(); ++i) next[i] = v[i] ^ v[8 + i];
  return next;
}

/// Returns the chaining value of a leaf. `top` is `root` if the message has no other leaf, else 0.
words leaf(byte_span bytes, std::uint64_t number, std::uint32_t top, const start& start_state) {
  words chaining = start_state.key;
  std::uint32_t flags = start_state.flags | leaf_start;
  for (; bytes.size() > block_bytes; bytes = bytes.subspan(block_bytes)) {
    chaining = compress(chaining, block_of(bytes.first(block_bytes)), number, flags);
    flags = start_state.flags;
  }
  return compress(chaining, block_of(bytes), number, flags | leaf_end | top);
}

words parent_of(const words& left, const words& right, std::uint32_t top, const start& start_state) {
  block both{.message = {}, .length = block_bytes};
  std::copy(right.begin(), right.end(), std::copy(left.begin(), left.end(), both.message.begin()));
  return compress(start_state.key, both, 0, start_state.flags | parent | top);
}

}  // namespace

start start_of(const std::optional<fingerprint_key>& key) {
  start start_state;
  if (!key) return start_state;
  for (std::size_t i = 0; i < start_state.key.size(); ++i) start_state.key[i] = load_word(key->data() + 4 * i);
  start_state.flags = keyed;
  return start_state;
}

digest hash(byte_span message, const start& start_state) {
  const std::uint64_t last = message.empty() ? 0 : (message.size() - 1) / leaf_bytes;
  std::array<words, most_subtrees> subtrees;
  std::size_t count = 0;
  for (std::uint64_t i = 0; i < last; ++i) {
    words top = leaf(message.subspan(i * leaf_bytes, leaf_bytes), i, 0, start_state);
    for (std::uint64_t leaves = i + 1; leaves % 2 == 0; leaves /= 2) {
      top = parent_of(subtrees[--count], top, 0, start_state);
    }
    subtrees[count++] = top;
  }
  words top = leaf(message.subspan(last * leaf_bytes), last, last == 0 ? root : 0, start_state);
  while (count > 0) {
    --count;
    top = parent_of(subtrees[count], top, count == 0 ? root : 0, start_state);
  }
  digest value;
  value.size = digest_bytes;
  for (std::size_t i = 0; i < digest_bytes; ++i) value.bytes[i] = static_cast<std::uint8_t>(top[i / 4] >> 8 * (i % 4));
  return value;
}

}  // namespace cutpoint::blake3
