#include "store/copy/stored_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "store/files/dump.h"

namespace cutpoint::store {

result<std::size_t> stored_stream::read(std::span<std::uint8_t> destination) {
  const std::uint64_t most = position_ + std::min<std::uint64_t>(destination.size(), file_.size - position_);
  std::uint64_t end = most;
  const status looked =
      visit_file(file_, position_, most, records_, [&](const stored_extent& extent, std::uint64_t position) {
        if (extent.kind == extent_kind::hole) end = std::min(end, position);
        return status();
      });
  if (!looked.ok()) return looked;
  std::size_t filled = 0;
  const auto take = [&](byte_span bytes) {
    std::memcpy(destination.data() + filled, bytes.data(), bytes.size());
    filled += bytes.size();
    return status();
  };
  if (status read = dump_file(file_, position_, end, records_, take); !read.ok()) return read;
  position_ += filled;
  return filled;
}

result<std::uint64_t> stored_stream::skip_hole() {
  std::uint64_t end = position_;
  const status looked =
      visit_file(file_, position_, position_ + 1, records_, [&](const stored_extent& extent, std::uint64_t position) {
        if (extent.kind == extent_kind::hole) end = position + extent.bytes();
        return status();
      });
  if (!looked.ok()) return looked;
  end = std::min(end, std::max(file_.size, position_));
  return end - std::exchange(position_, end);
}

}  // namespace cutpoint::store
