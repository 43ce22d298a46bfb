// Declares the cut kernels: one maker for each algorithm, defined in the file of that algorithm.
#pragma once

#include <memory>
#include <variant>

#include <cutpoint/algorithms.h>
#include <cutpoint/cut_kernel.h>

#include "simd/dispatch/instruction_set.h"
#include "simd/scans/scanners.h"

namespace cutpoint::simd {

/// The base of all kernels, which stores the instruction set and perhaps a scanner.
class instruction_set_kernel : public cut_kernel {
 public:
  explicit instruction_set_kernel(instruction_set set, scanner_pointer scanner = nullptr)
      : set_(set), scanner_(std::move(scanner)) {}
  [[nodiscard]] const candidate_scanner* scanner() const noexcept final { return scanner_.get(); }
  [[nodiscard]] std::string_view backend() const noexcept final { return to_string(set_); }

 private:
  instruction_set set_;
  scanner_pointer scanner_;
};

using kernel_pointer = std::shared_ptr<const cut_kernel>;
template <class Parameters>
using kernel_maker = kernel_pointer (*)(const Parameters& filled, instruction_set set);

/// Calls the maker for `set`. Returns null if it was not compiled, and for `avx512_dl` if the kernel would only be that
/// for `avx512`.
template <class Parameters>
kernel_pointer make_by(const kernel_table<kernel_maker<Parameters>>& makers, const Parameters& filled,
                       instruction_set set) {
  const kernel_maker<Parameters> make = makers[static_cast<std::size_t>(set)];
  kernel_pointer kernel = make != nullptr ? make(filled, set) : nullptr;
  if (kernel && set == instruction_set::avx512_dl && kernel->scanner() == nullptr) return nullptr;
  return kernel;
}

/// Matches the algorithms without a kernel. `fixed` needs none. `repmaxcdc` needs the largest hash of a range instead of
/// the first match.
template <class Parameters>
kernel_pointer make_kernel(const Parameters&, instruction_set) {
  return nullptr;
}
kernel_pointer make_kernel(const adler_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const ae_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const borg1_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const borg2_fastcdc_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const buzhash_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const crc32_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const fastcdc_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const gear_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const maxp_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const mincdc_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const rabin_aes_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const rabin_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const rabin_inck_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const ram_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const ronomon_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const seqcdc_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const toeplitz128_aes_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const toeplitz_aes_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const tttd_parameters& filled, instruction_set set);

/// Returns the kernel of an algorithm for an instruction set, or null if the algorithm has no kernel or it was not
/// compiled for that set. The caller must check `runs_here(set)`. `filled` holds the parameters of a chunker, with none
/// left out.
[[nodiscard]] inline kernel_pointer kernel_for(const algorithm_parameters& filled, instruction_set set) {
  return std::visit([set](const auto& p) { return make_kernel(p, set); }, filled);
}

/// Defines `make_kernel` for `algorithm_parameters`. `table` is the macro of dispatch.h that lists the compiled functions
/// `make_algorithm`.
#define CUTPOINT_DEFINE_KERNEL(algorithm, table)                                          \
  namespace cutpoint::simd {                                                              \
  kernel_pointer make_kernel(const algorithm##_parameters& filled, instruction_set set) { \
    return make_by<algorithm##_parameters>(table(make_##algorithm), filled, set);         \
  }                                                                                       \
  }

/// The numbers of positions of a chunk that kernels of the gear hash can have in flight. One alone waits for its own shift and addition
/// where these take longer than the instructions of a byte; several look at bytes beyond the cut.
inline constexpr std::array<std::size_t, 2> gear_positions = {1, 3};

/// Returns the number that is faster on this processor. It is measured by kernels for `set`, once in a process, which takes some 0.3 ms.
/// Thread-safe.
[[nodiscard]] std::size_t fastest_gear_positions(instruction_set set);

/// As above, with one of `gear_positions`.
kernel_pointer make_kernel(const borg2_fastcdc_parameters& filled, instruction_set set, std::size_t positions);
kernel_pointer make_kernel(const fastcdc_parameters& filled, instruction_set set, std::size_t positions);
kernel_pointer make_kernel(const gear_parameters& filled, instruction_set set, std::size_t positions);

/// Defines the two functions `make_kernel` of an algorithm with the gear hash. `make_algorithm` is a template over the positions.
#define CUTPOINT_DEFINE_GEAR_KERNEL(algorithm)                                                                   \
  namespace cutpoint::simd {                                                                                     \
  kernel_pointer make_kernel(const algorithm##_parameters& filled, instruction_set set, std::size_t positions) { \
    using makers = kernel_table<kernel_maker<algorithm##_parameters>>;                                           \
    constexpr makers by_one = CUTPOINT_KERNELS(make_##algorithm<gear_positions[0]>);                             \
    constexpr makers by_several = CUTPOINT_KERNELS(make_##algorithm<gear_positions[1]>);                         \
    return make_by<algorithm##_parameters>(positions == gear_positions[0] ? by_one : by_several, filled, set);   \
  }                                                                                                              \
  kernel_pointer make_kernel(const algorithm##_parameters& filled, instruction_set set) {                        \
    kernel_pointer by_one = make_kernel(filled, set, gear_positions[0]);                                         \
    if (by_one == nullptr || fastest_gear_positions(set) == gear_positions[0]) return by_one;                    \
    return make_kernel(filled, set, gear_positions[1]);                                                          \
  }                                                                                                              \
  }

}  // namespace cutpoint::simd
