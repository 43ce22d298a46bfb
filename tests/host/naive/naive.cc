// Cuts a stream with the naive rules.
#include "tests/host/naive/naive.h"

namespace cutpoint::naive {

std::vector<std::uint64_t> lengths(const algorithm_parameters& parameters, byte_span stream) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t start = 0; start < stream.size(); start += all.back()) {
    all.push_back(std::visit([&](const auto& p) { return cut(p, stream, start); }, parameters));
  }
  return all;
}

}  // namespace cutpoint::naive
