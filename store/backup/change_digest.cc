#include "store/backup/change_digest.h"

#include <xxhash.h>

namespace cutpoint::store {

std::uint64_t change_digest(const folder_entry& entry) {
  folder_entry compared = entry;
  compared.changed = {};
  compared.device = 0;
  if (compared.kind == file_kind::directory) compared.node.reset();
  node_builder builder(node_kind::folder, 0);
  builder.add(compared);
  const encoded_node node = builder.finish();
  return XXH3_64bits(node.bytes.data(), node.content_bytes);
}

}  // namespace cutpoint::store
