// The hashes of chunks and files in Xet, Hugging Face's storage.
//
// The hash of a chunk is keyed BLAKE3 of its bytes, which the engine makes with `data_key`. The hash of a file is the hash
// of the root of a tree over its chunks. The hash of a node covers a line of text for each child, "HASH : BYTES". A node
// ends after a child whose hash is a multiple of 4. It has 3 to 9 children; the last node of a level may have fewer.
#pragma once

#include <cstdint>
#include <string>
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

/// A chunk or an inner node of the tree.
struct node {
  cutpoint::digest hash;
  std::uint64_t bytes = 0;
};

/// Returns a hash in the notation of Xet: four little-endian words of 64 bits.
std::string hexadecimal(const cutpoint::digest& hash);

/// Makes the hashes of files. One thread at a time may use it.
class file_hasher {
 public:
  /// Errors: as `cutpoint::fingerprinter::make`.
  static result<file_hasher> make();
  /// Returns the hash of a file with these chunks, or zeros if there are none. Errors: as `cutpoint::fingerprinter`.
  result<cutpoint::digest> operator()(std::vector<node> chunks);

 private:
  file_hasher(cutpoint::fingerprinter nodes, cutpoint::fingerprinter root) noexcept;
  result<node> parent(const node* first, std::size_t count);

  cutpoint::fingerprinter nodes_;
  cutpoint::fingerprinter root_;
};

}  // namespace xet
