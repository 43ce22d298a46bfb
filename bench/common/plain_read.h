// How fast this machine just reads the bytes.
#pragma once

#include <cutpoint/bytes.h>

namespace cutpoint::bench {

/// Bytes per second of `plain_read` by the widest vectors: the median of five samples, each of 64 MiB at least.
[[nodiscard]] double plain_read_rate(byte_span bytes);

}  // namespace cutpoint::bench
