#include "store/files/dump.h"

#include <algorithm>
#include <vector>

#include "store/format/failure.h"

namespace cutpoint::store {

status dump_file(const folder_entry& file, std::uint64_t begin, std::uint64_t end, record_source& records,
                 const std::function<status(byte_span)>& take) {
  if (file.kind != file_kind::regular_file) {
    return {status_code::invalid_argument,
            fmt::format("{}: it is a {}, which has no content", file.name, to_string(file.kind))};
  }
  end = std::min(end, file.size);
  std::vector<std::uint8_t> zeros;
  std::uint64_t at = begin;  // the next byte to pass on
  const auto take_extent = [&](const stored_extent& extent, std::uint64_t position) -> status {
    const std::uint64_t extent_end = std::min(position + extent.bytes(), end);
    if (extent.kind == extent_kind::hole) {
      zeros.resize(std::min<std::uint64_t>(MiB, extent.bytes()));
      while (at < extent_end) {
        const std::uint64_t count = std::min<std::uint64_t>(zeros.size(), extent_end - at);
        if (status outcome = take(byte_span(zeros).first(count)); !outcome.ok()) return outcome;
        at += count;
      }
      return {};
    }
    const auto shared = records.share_chunk(extent.record);
    if (!shared) return shared.error();
    const std::vector<std::uint8_t>* const content = shared->get();
    while (at < extent_end) {
      const std::uint64_t skipped = (at - position) % content->size();
      const byte_span bytes =
          byte_span(*content).subspan(skipped, std::min(content->size() - skipped, extent_end - at));
      if (status outcome = take(bytes); !outcome.ok()) return outcome;
      at += bytes.size();
    }
    return {};
  };
  if (begin >= end) return {};
  if (status visited = visit_file(file, begin, end, records, take_extent); !visited.ok()) return visited;
  return at == end ? status() : damage(file.name, "its content is shorter than its size");
}

}  // namespace cutpoint::store
