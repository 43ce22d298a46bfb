// Local extremes, smallest values, monotonic sequences and fixed sizes, each as a simple loop.
#include "tests/host/naive/naive.h"

namespace cutpoint::naive {

namespace {

bool is_local_maximum(byte_span stream, std::uint64_t i, std::uint64_t half_window) {
  if (stream.size() - 1 - i < half_window) return false;
  for (std::uint64_t distance = 1; distance <= half_window; ++distance) {
    if (distance <= i && stream[i - distance] > stream[i]) return false;
    if (stream[i + distance] >= stream[i]) return false;
  }
  return true;
}

std::uint64_t value_at(byte_span bytes, std::uint64_t i, std::uint64_t value_bytes) {
  std::uint64_t value = 0;
  for (std::uint64_t k = 0; k < value_bytes; ++k) value = value * 256 + bytes[i + k];
  return value;
}

bool begins_with_run(byte_span bytes, std::uint64_t length) {
  for (std::uint64_t i = 1; i < length; ++i) {
    if (bytes[i] != bytes[0]) return false;
  }
  return true;
}

}  // namespace

std::uint64_t cut(const maxp_parameters& p, byte_span stream, std::uint64_t start) {
  const std::uint64_t end = longest_chunk(*p.max_bytes, stream.size() - start);
  for (std::uint64_t length = std::max<std::uint64_t>(1, *p.min_bytes); length < end; ++length) {
    if (is_local_maximum(stream, start + length - 1, *p.half_window)) return length;
  }
  return end;
}

std::uint64_t cut(const ae_parameters& p, byte_span stream, std::uint64_t start) {
  const byte_span b = stream.subspan(start);
  const std::uint64_t end = longest_chunk(*p.max_bytes, b.size());
  if (p.lest != 0 && p.lest <= end && begins_with_run(b, p.lest)) return p.lest;
  const auto has_value = [&](std::uint64_t i) { return i + p.value_bytes <= b.size(); };
  if (!has_value(0)) return end;
  std::uint64_t m = 0;
  for (std::uint64_t i = 1; i < end; ++i) {
    const bool is_extreme = has_value(i) && (p.extreme == ae_extreme::maximum
                                                 ? value_at(b, i, p.value_bytes) > value_at(b, m, p.value_bytes)
                                                 : value_at(b, i, p.value_bytes) < value_at(b, m, p.value_bytes));
    if (is_extreme) {
      m = i;
    } else if (i == m + *p.window_bytes) {
      return i + 1;
    }
  }
  return end;
}

std::uint64_t cut(const ram_parameters& p, byte_span stream, std::uint64_t start) {
  const byte_span b = stream.subspan(start);
  const std::uint64_t end = longest_chunk(*p.max_bytes, b.size());
  for (std::uint64_t i = *p.window_bytes; i < end; ++i) {
    bool is_reached = true;
    for (std::uint64_t k = 0; k < *p.window_bytes && is_reached; ++k) is_reached = b[i] >= b[k];
    if (is_reached) return i + 1;
  }
  return end;
}

std::uint64_t cut(const seqcdc_parameters& p, byte_span stream, std::uint64_t start) {
  const byte_span b = stream.subspan(start);
  const std::uint64_t end = longest_chunk(*p.max_bytes, b.size());
  std::uint64_t run = 0;
  std::uint64_t opposing = 0;
  std::uint64_t i = *p.min_bytes - *p.seq_length;
  while (i < end) {
    const int step = p.order == seqcdc_order::increasing ? b[i] - b[i - 1] : b[i - 1] - b[i];
    run = step > 0 ? run + 1 : 0;
    if (step < 0) opposing += 1;
    if (run == *p.seq_length) return i + 1;
    i += 1;
    if (opposing == *p.skip_trigger && *p.skip_trigger != 0) {
      run = opposing = 0;
      i += *p.skip_size;
    }
  }
  return end;
}

/// Takes the product modulo 2^32 of the whole numbers, and asks of each length whether any length has a better value.
std::uint64_t cut(const mincdc_parameters& p, byte_span stream, std::uint64_t start) {
  const byte_span b = stream.subspan(start);
  const std::uint64_t end = std::min<std::uint64_t>(*p.max_bytes, b.size());
  if (b.size() <= *p.min_bytes || end < 4) return end;
  const auto value = [&](std::uint64_t length) {
    const byte_span w = b.subspan(length - 4, 4);
    const std::uint64_t number = w[0] + 256 * (w[1] + 256 * (w[2] + std::uint64_t{256} * w[3]));
    return (number * p.multiplier + p.addend) % (std::uint64_t{1} << 32);
  };
  std::vector<std::pair<std::uint64_t, std::uint64_t>> values;
  for (std::uint64_t length = std::max<std::uint64_t>(4, *p.min_bytes); length <= end; ++length) {
    values.emplace_back(value(length), length);
  }
  return std::min_element(values.begin(), values.end())->second;
}

std::uint64_t cut(const fixed_parameters& p, byte_span stream, std::uint64_t start) {
  return std::min<std::uint64_t>(p.avg_bytes, stream.size() - start);
}

}  // namespace cutpoint::naive
