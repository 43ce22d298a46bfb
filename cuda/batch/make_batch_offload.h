// Makes the cut launcher and the offload of a chunker on an executor.
#pragma once

#include <memory>
#include <utility>
#include <variant>

#include "cuda/algorithms/all_specifications.h"
#include "cuda/batch/batch_offload.h"

namespace cutpoint::cuda {

/// Makes the launcher of the chunker's cuts on an executor. Errors: those of the executor.
template <class Executor>
[[nodiscard]] result<std::unique_ptr<cut_launcher<Executor>>> make_cut_launcher(Executor& executor,
                                                                                const chunker& cuts) {
  return std::visit(
      [&](const auto& filled) -> result<std::unique_ptr<cut_launcher<Executor>>> {
        const auto specification = make_specification(filled);
        return cut_launcher_for<Executor, std::remove_const_t<decltype(specification)>>::make(executor, specification);
      },
      cuts.parameters());
}

/// Returns the estimated sizes of a chunker's chunks.
[[nodiscard]] inline chunk_estimates sizes_of(const chunker& cuts) {
  return std::visit([](const auto& filled) { return make_specification(filled).sizes; }, cuts.parameters());
}

/// Does the work of `make_offload` on an executor.
template <class Executor>
[[nodiscard]] result<std::unique_ptr<offload>> make_batch_offload(Executor executor, const chunker& cuts,
                                                                  const fingerprint_recipe& fingerprint,
                                                                  const batch_limits& limits, offload_use use) {
  if (use == offload_use::fingerprint) {
    batch_limits known = limits;
    if (known.chunks == 0) known.chunks = plan_partitions(sizes_of(cuts), limits).max_chunks;
    return batch_offload<Executor>::make(std::move(executor), nullptr, fingerprint, known);
  }
  auto launcher = make_cut_launcher(executor, cuts);
  if (!launcher) return launcher.error();
  return batch_offload<Executor>::make(std::move(executor), std::move(*launcher), fingerprint, limits);
}

}  // namespace cutpoint::cuda
