// From a chunker to the work of a machine.
#pragma once

#include <memory>
#include <utility>
#include <variant>

#include "cuda/batch_offload.h"
#include "cuda/schemes.h"

namespace cutpoint::cuda {

/// What cuts as the chunker does, on a machine. Errors: of the machine; backend_failure, for an algorithm without a
/// scheme.
template <class Machine>
[[nodiscard]] result<std::unique_ptr<slicer<Machine>>> make_slicer(Machine& on, const chunker& cuts) {
  return std::visit(
      [&](const auto& filled) -> result<std::unique_ptr<slicer<Machine>>> {
        if constexpr (requires { make_scheme(filled); }) {
          const auto scheme = make_scheme(filled);
          return slicer_of<Machine, std::remove_const_t<decltype(scheme)>>::make(on, scheme);
        } else {
          return status(status_code::backend_failure, "no device cuts by " + cuts.canonical());
        }
      },
      cuts.parameters());
}

/// Sizes of a chunker's chunks as its scheme has them; nothing is known of an algorithm without one.
[[nodiscard]] inline scheme_sizes sizes_of(const chunker& cuts) {
  return std::visit(
      [](const auto& filled) {
        if constexpr (requires { make_scheme(filled); }) {
          return make_scheme(filled).sizes;
        } else {
          return scheme_sizes{};
        }
      },
      cuts.parameters());
}

/// The work of `make_offload` on a machine.
template <class Machine>
[[nodiscard]] result<std::unique_ptr<offload>> make_batch(Machine machine, const chunker& cuts,
                                                          const fingerprint_recipe& fingerprint,
                                                          const batch_limits& limits, offload_use use) {
  if (use == offload_use::fingerprint) {
    batch_limits known = limits;
    if (known.chunks == 0) known.chunks = slice_plan_for(sizes_of(cuts), limits).most_chunks;
    return batch_offload<Machine>::make(std::move(machine), nullptr, fingerprint, known);
  }
  auto cutting = make_slicer(machine, cuts);
  if (!cutting) return cutting.error();
  return batch_offload<Machine>::make(std::move(machine), std::move(*cutting), fingerprint, limits);
}

}  // namespace cutpoint::cuda
