#include "bindings/c/receivers.h"

#include <algorithm>
#include <array>

#include "bindings/c/options.h"

namespace cutpoint::embed {

status callback_receiver::begin_stream(std::uint64_t stream) {
  if (receiver_.begin_stream == nullptr) return {};
  return calls().call("begin_stream", [&] { return receiver_.begin_stream(receiver_.context, stream); });
}

status callback_receiver::take(const delivered_chunk& chunks) {
  count(chunks);
  if (receiver_.take_chunk == nullptr) return {};
  const cutpoint_chunk chunk = to_c(record_of(chunks));
  return calls().call("take_chunk",
                      [&] { return receiver_.take_chunk(receiver_.context, &chunk, chunks.bytes.data()); });
}

status callback_receiver::end_stream(std::uint64_t stream, const status& stream_outcome) {
  if (receiver_.end_stream == nullptr) return {};
  return calls().call("end_stream", [&] {
    return receiver_.end_stream(receiver_.context, stream, static_cast<int>(stream_outcome.code()));
  });
}

status queue_receiver::take(const delivered_chunk& chunks) {
  count(chunks);
  return waiting_.take(chunks);
}

std::optional<std::size_t> queue_receiver::move_to(std::span<cutpoint_chunk> room) {
  std::array<chunk_record, 64> some;
  std::size_t moved = 0;
  while (moved < room.size()) {
    const std::size_t count = waiting_.take(std::span(some).first(std::min(some.size(), room.size() - moved)));
    if (count == 0) break;
    std::transform(some.begin(), some.begin() + count, room.begin() + static_cast<std::ptrdiff_t>(moved), to_c);
    moved += count;
  }
  return moved;
}

}  // namespace cutpoint::embed
