// The defaults of a source, and the source over memory.
#include <algorithm>

#include <cutpoint/source.h>

namespace cutpoint {

result<std::uint64_t> source::skip_hole() { return 0; }

result<std::size_t> memory_source::read(std::span<std::uint8_t> destination) {
  const std::size_t count = std::min(destination.size(), rest_.size());
  std::copy_n(rest_.begin(), count, destination.begin());
  rest_ = rest_.subspan(count);
  return count;
}

}  // namespace cutpoint
