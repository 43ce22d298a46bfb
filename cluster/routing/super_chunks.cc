#include "cluster/routing/super_chunks.h"

#include <cassert>
#include <utility>

#include "host/core/splitmix.h"

namespace cutpoint::cluster {

super_chunk_builder::super_chunk_builder(const super_chunk_options& options, receiver take)
    : options_(options), take_(std::move(take)) {
  assert(options.target_bytes >= 2);
}

void super_chunk_builder::begin_file(class_number application) {
  application_ = application;
  has_own_ = false;
  if (application >= shared_.size()) shared_.resize(application + std::size_t{1});
}

void super_chunk_builder::add(const routed_chunk& chunk) {
  if (has_own_) return extend(file_, chunk);
  file_.chunks.push_back(chunk);
  file_.byte_count += chunk.length;
  if (file_.byte_count < options_.target_bytes) return;
  has_own_ = true;
  const open_super_chunk first = std::exchange(file_, {});
  for (const routed_chunk& each : first.chunks) extend(file_, each);
}

void super_chunk_builder::end_file() {
  if (has_own_) return close(file_);
  const open_super_chunk small = std::exchange(file_, {});
  for (const routed_chunk& each : small.chunks) extend(shared_[application_], each);
}

void super_chunk_builder::finish() {
  for (class_number each = 0; each < shared_.size(); ++each) {
    application_ = each;
    close(shared_[each]);
  }
}

void super_chunk_builder::extend(open_super_chunk& open, const routed_chunk& chunk) {
  open.chunks.push_back(chunk);
  open.byte_count += chunk.length;
  if (ends_after(open, chunk)) close(open);
}

void super_chunk_builder::close(open_super_chunk& open) {
  if (!open.chunks.empty()) take_(application_, open.chunks);
  open.chunks.clear();
  open.byte_count = 0;
}

bool super_chunk_builder::ends_after(const open_super_chunk& open, const routed_chunk& chunk) const {
  if (options_.cuts == super_chunk_cuts::fixed) return open.byte_count >= options_.target_bytes;
  const std::uint64_t least = options_.target_bytes / 2;
  if (open.byte_count < least) return false;
  // A byte ends the super-chunk with the probability 1 / spread, so the mean does not depend on the chunks' length.
  const std::uint64_t spread = options_.target_bytes - least;
  return open.byte_count >= 2 * options_.target_bytes ||
         splitmix64::mixed(chunk.fingerprint + splitmix64::step) % spread < chunk.length;
}

}  // namespace cutpoint::cluster
