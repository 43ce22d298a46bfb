// The hashes of Xet, Hugging Face's storage: of a chunk, and of a file by those of its chunks.
//
// A chunk's is keyed BLAKE3 of its bytes: what the engine makes, given `data_key`. A file's is the root of a tree over
// them, hashed once more. A node hashes a line of text for each of its children, "HASH : BYTES"; it takes children
// until one after the second has a hash that 4 divides, but at most 9.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

namespace xet {

using cutpoint::result;
using cutpoint::status;

/// Of the hashes of chunks.
inline constexpr cutpoint::fingerprint_key data_key = {0x66, 0x97, 0xf5, 0x77, 0x5b, 0x95, 0x50, 0xde, 0x31, 0x35, 0xcb,
                                                       0xac, 0xa5, 0x97, 0x18, 0x1c, 0x9d, 0xe4, 0x21, 0x10, 0x9b, 0xeb,
                                                       0x2b, 0x58, 0xb4, 0xd0, 0xb0, 0x4b, 0x93, 0xad, 0xf2, 0x29};

/// A chunk, or what its parents make of several.
struct node {
  cutpoint::digest hash;
  std::uint64_t bytes = 0;
};

/// As Xet prints a hash: four little-endian words of 64 bits.
std::string hexadecimal(const cutpoint::digest& hash);

/// Makes the hashes of files. One thread at a time.
class file_hasher {
 public:
  /// Errors: as `cutpoint::fingerprinter::make`.
  static result<file_hasher> make();
  /// The hash of a file of these chunks; all zeros for none. Errors: as the hashes have them.
  result<cutpoint::digest> operator()(std::vector<node> chunks);

 private:
  file_hasher(cutpoint::fingerprinter nodes, cutpoint::fingerprinter root) noexcept;
  result<node> parent(const node* first, std::size_t count);

  cutpoint::fingerprinter nodes_;
  cutpoint::fingerprinter root_;
};

}  // namespace xet
