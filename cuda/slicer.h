// Cutting a batch by the kernels of one scheme, on a machine: the host's (cuda/host_machine.h) or a device's
// (cuda/device_machine.cuh).
#pragma once

#include <memory>
#include <utility>

#include <cutpoint/status.h>

#include "cuda/return_if_failed.h"
#include "cuda/scheme.h"
#include "cuda/slices.h"
#include "cuda/tuning.h"

namespace cutpoint::cuda {

/// A batch that is to be cut, and where to. Pointers are to the machine's memory.
struct slice_job {
  slice_batch batch;                               ///< `overflowed` is 0 at first; as many ends as there is room for
  slice_state* states[2] = {};                     ///< [slice_count] each
  std::uint32_t* counts = nullptr;                 ///< [slice_count] of chunks
  std::uint32_t* firsts = nullptr;                 ///< [slice_count + 1]
  std::uint32_t* changed = nullptr;                ///< one word
  chunk_list chunks;                               ///< as many as the slices have room for
  std::uint32_t rounds = slicing_tuning{}.rounds;  ///< at least 1
};

template <class Machine>
class slicer {
 public:
  virtual ~slicer() = default;
  /// Puts what cuts the batch into the machine's stream.
  [[nodiscard]] virtual status enqueue(Machine& on, const slice_job& job) const = 0;
  [[nodiscard]] virtual scheme_sizes sizes() const = 0;
  [[nodiscard]] virtual std::uint32_t levels() const = 0;
};

template <class Machine, class Scheme>
class slicer_of final : public slicer<Machine> {
 public:
  /// Copies the scheme's table to the machine.
  [[nodiscard]] static result<std::unique_ptr<slicer<Machine>>> make(Machine& on, const Scheme& scheme) {
    auto table = on.template allocate<std::uint64_t>(scheme.table.size());
    if (!table) return table.error();
    CUTPOINT_RETURN_IF_FAILED(on.copy_in(table->data(), scheme.table.data(), scheme.table.size()));
    CUTPOINT_RETURN_IF_FAILED(on.wait());
    return std::unique_ptr<slicer<Machine>>(new slicer_of(scheme, std::move(*table)));
  }

  status enqueue(Machine& on, const slice_job& job) const override {
    if constexpr (Scheme::levels != 0) {
      CUTPOINT_RETURN_IF_FAILED(on.launch(scheme_.scan(job.batch.in, table_.data())));
    }
    const slice_work<cutter> work{job.batch, scheme_.cutter(table_.data())};
    slice_state* before = job.states[0];
    slice_state* after = job.states[1];
    CUTPOINT_RETURN_IF_FAILED(on.launch(map_kernel<cutter>{{work}, before}));
    for (std::uint32_t round = 0; round < job.rounds; ++round, std::swap(before, after)) {
      CUTPOINT_RETURN_IF_FAILED(on.clear(job.changed, 1));
      CUTPOINT_RETURN_IF_FAILED(on.launch(settle_kernel<cutter>{{work}, before, after, job.changed}));
    }
    CUTPOINT_RETURN_IF_FAILED(on.launch(finish_kernel<cutter>{work, before, job.changed}));
    const slice_batch& of = job.batch;
    const count_kernel count{of.slices, before, of.own, of.slice_count, job.counts, of.overflowed};
    CUTPOINT_RETURN_IF_FAILED(on.launch(count));
    CUTPOINT_RETURN_IF_FAILED(on.running_sum(job.counts, job.firsts, of.slice_count));
    return on.launch(gather_kernel<cutter>{{work}, before, job.firsts, job.chunks});
  }
  scheme_sizes sizes() const override { return scheme_.sizes; }
  std::uint32_t levels() const override { return Scheme::levels; }

 private:
  using cutter = decltype(std::declval<const Scheme&>().cutter(nullptr));
  using table_words = typename Machine::template array<std::uint64_t>;

  slicer_of(const Scheme& scheme, table_words table) : scheme_(scheme), table_(std::move(table)) {}

  Scheme scheme_;
  table_words table_;
};

}  // namespace cutpoint::cuda
