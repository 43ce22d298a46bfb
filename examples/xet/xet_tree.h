// The hashes of chunks and files in Xet, Hugging Face's storage.
//
// The hash of a chunk is keyed BLAKE3 of its bytes, which the engine makes with `data_key`. The hash of a file is the hash
// of the root of a tree over its chunks. The hash of a node covers a line of text for each child, "HASH : BYTES". A node
// ends after a child whose hash is a multiple of 4. It has 3 to 9 children; the last node of a level may have fewer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

namespace xet {

using cutpoint::result;
using cutpoint::status;

/// The key for the hashes of chunks.
inline constexpr cutpoint::fingerprint_key data_key = {0x66, 0x97, 0xf5, 0x77, 0x5b, 0x95, 0x50, 0xde, 0x31, 0x35, 0xcb,
                                                       0xac, 0xa5, 0x97, 0x18, 0x1c, 0x9d, 0xe4, 0x21, 0x10, 0x9b, 0xeb,
                                                       0x2b, 0x58, 0xb4, 0xd0, 0xb0, 0x4b, 0x93, 0xad, 0xf2, 0x29};

inline constexpr cutpoint::fingerprint_key node_key = {0x01, 0x7e, 0xc5, 0xc7, 0xa5, 0x47, 0x29, 0x96, 0xfd, 0x94, 0x66,
                                                       0x66, 0xb4, 0x8a, 0x02, 0xe6, 0x5d, 0xdd, 0x53, 0x6f, 0x37, 0xc7,
                                                       0x6d, 0xd2, 0xf8, 0x63, 0x52, 0xe6, 0x4a, 0x53, 0x71, 0x3f};
inline constexpr cutpoint::fingerprint_key root_key = {};

/// A chunk or an inner node of the tree.
struct node {
  cutpoint::digest hash;
  std::uint64_t bytes = 0;
};

inline constexpr std::size_t least_children = 3;
inline constexpr std::size_t most_children = 9;

/// Returns whether the hash, whose last word is its lowest, is a multiple of 4.
inline bool ends_node(const node& child) {
  constexpr std::size_t last_word = 24;
  return child.hash.bytes[last_word] % 4 == 0;
}

/// Returns the number of children of the next node. `count` nodes are left from `first` on.
inline std::size_t children_of_first(const node* first, std::size_t count) {
  const std::size_t most = std::min(count, most_children);
  for (std::size_t i = least_children; i < most; ++i) {
    if (ends_node(first[i - 1])) return i;
  }
  return most;
}

/// Returns a hash in the notation of Xet: four little-endian words of 64 bits.
inline std::string hexadecimal(const cutpoint::digest& hash) {
  constexpr std::size_t word_bytes = 8;
  cutpoint::digest words = hash;
  for (auto word = words.bytes.begin(); word != words.bytes.end(); word += word_bytes)
    std::reverse(word, word + word_bytes);
  return cutpoint::to_hex(words);
}

/// Makes the hashes of files. One thread at a time may use it.
class file_hasher {
 public:
  /// Errors: as `cutpoint::fingerprinter::make`.
  static result<file_hasher> make() {
    auto nodes = cutpoint::fingerprinter::make({cutpoint::fingerprint_kind::blake3, node_key});
    if (!nodes) return nodes.error();
    auto root = cutpoint::fingerprinter::make({cutpoint::fingerprint_kind::blake3, root_key});
    if (!root) return root.error();
    return file_hasher(*std::move(nodes), *std::move(root));
  }
  /// Returns the hash of a file with these chunks, or zeros if there are none. Errors: as `cutpoint::fingerprinter`.
  result<cutpoint::digest> operator()(std::vector<node> chunks) {
    if (chunks.empty()) return cutpoint::digest{.bytes = {}, .size = cutpoint::largest_digest_bytes};
    std::vector<node>& level = chunks;  // each level is overwritten by the one above it
    while (level.size() > 1) {
      std::size_t parents = 0;
      for (std::size_t first = 0; first < level.size();) {
        const std::size_t count = children_of_first(&level[first], level.size() - first);
        const auto above = parent(&level[first], count);
        if (!above) return above.error();
        level[parents++] = *above;
        first += count;
      }
      level.resize(parents);
    }
    return root_(level.front().hash.view());
  }

 private:
  file_hasher(cutpoint::fingerprinter nodes, cutpoint::fingerprinter root) noexcept
      : nodes_(std::move(nodes)), root_(std::move(root)) {}
  result<node> parent(const node* first, std::size_t count) {
    std::string lines;
    node parent_node;
    for (const node* child = first; child != first + count; ++child) {
      lines += hexadecimal(child->hash) + " : " + std::to_string(child->bytes) + "\n";
      parent_node.bytes += child->bytes;
    }
    const auto hash = nodes_({reinterpret_cast<const std::uint8_t*>(lines.data()), lines.size()});
    if (!hash) return hash.error();
    parent_node.hash = *hash;
    return parent_node;
  }

  cutpoint::fingerprinter nodes_;
  cutpoint::fingerprinter root_;
};

}  // namespace xet
