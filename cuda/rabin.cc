// The schemes of `rabin` and `tttd`.
#include "host/algorithms/rabin.h"

#include "cuda/make_scheme.h"
#include "cuda/schemes.h"

namespace cutpoint::cuda {
namespace {

template <class Parameters>
std::vector<std::uint64_t> rabin_tables(const Parameters& filled) {
  const rabin_hash hash(filled.polynomial, filled.window_bytes);
  std::vector<std::uint64_t> words;
  append_table(words, [&](std::uint8_t byte) { return hash.reduction_of(byte); });
  append_table(words, [&](std::uint8_t byte) { return hash.removal_of(byte); });
  return words;
}

}  // namespace

rabin_scheme make_scheme(const rabin_parameters& filled) {
  return {.table = rabin_tables(filled),
          .sizes = rolling_sizes(filled),
          .hash = {.window = static_cast<std::uint32_t>(filled.window_bytes)},
          .tests = {{low_bits_test(test_of(filled))}},
          .chunks = limits_cutter(filled)};
}

tttd_scheme make_scheme(const tttd_parameters& filled) {
  return {.table = rabin_tables(filled),
          .sizes = rolling_sizes(filled),
          .hash = {.window = static_cast<std::uint32_t>(filled.window_bytes)},
          .tests = {{low_bits_test(main_test(filled)), low_bits_test(backup_test(filled))}},
          .chunks = limits_cutter<backup_cutter>(filled)};
}

}  // namespace cutpoint::cuda
