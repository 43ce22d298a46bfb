// The kernels that there are: one function for each algorithm, declared here and defined in its file.
#pragma once

#include <memory>

#include <cutpoint/algorithms.h>
#include <cutpoint/cut_kernel.h>

#include "simd/dispatch/instruction_set.h"

namespace cutpoint::simd {

/// The kernel of an algorithm for an instruction set; null where there is none: the algorithm needs none, or it was not
/// compiled for that set. Whether the set `runs_here` is the caller's to know. `filled`: the parameters of a chunker,
/// none left out.
[[nodiscard]] std::shared_ptr<const cut_kernel> kernel_for(const algorithm_parameters& filled, instruction_set set);

/// A kernel that knows its back end.
class instruction_set_kernel : public cut_kernel {
 public:
  explicit instruction_set_kernel(instruction_set set) : set_(set) {}
  [[nodiscard]] std::string_view backend() const noexcept final { return to_string(set_); }

 private:
  instruction_set set_;
};

using kernel_pointer = std::shared_ptr<const cut_kernel>;
template <class Parameters>
using kernel_maker = kernel_pointer (*)(const Parameters& filled, instruction_set set);

/// Calls the maker of `set`; null where that was not compiled.
template <class Parameters>
kernel_pointer make_by(const kernel_table<kernel_maker<Parameters>>& makers, const Parameters& filled,
                       instruction_set set) {
  const kernel_maker<Parameters> make = makers[static_cast<std::size_t>(set)];
  return make != nullptr ? make(filled, set) : nullptr;
}

/// An algorithm without a kernel: `fixed` needs none, `ronomon`'s hash has no window from which a second position could
/// begin, and `repmaxcdc` wants the largest hash of a region, not the first that matches.
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
kernel_pointer make_kernel(const rabin_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const rabin_inck_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const ram_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const seqcdc_parameters& filled, instruction_set set);
kernel_pointer make_kernel(const tttd_parameters& filled, instruction_set set);

}  // namespace cutpoint::simd
