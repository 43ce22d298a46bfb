// Cuts a batch by the kernels of one specification on an executor: a device (cuda/device/device_executor.cuh) or the host
// double (cuda/host_double/host_executor.h).
#pragma once

#include <memory>
#include <utility>

#include <cutpoint/status.h>

#include "cuda/cut/cut_kernels.h"
#include "cuda/cut/specification.h"
#include "cuda/kernel/block.h"

namespace cutpoint::cuda {

/// A batch to cut, and memory for its chunks. Pointers are to the executor's memory. `batch.overflowed` and `changed` are 0.
struct cut_launch_arguments {
  partitioned_batch batch;           ///< an end for each slot
  partition_state* states[2] = {};   ///< [partition_count] each
  std::uint32_t* counts = nullptr;   ///< [partition_count] numbers of chunks
  std::uint32_t* firsts = nullptr;   ///< [partition_count + 1], the first is 0
  std::uint32_t* changed = nullptr;  ///< [rounds]
  chunk_list chunks;                 ///< with any capacity
  std::uint32_t rounds = 1;
};

/// Puts the kernels that gather the chunks of joined partitions into the executor's stream. `joined` is their states.
template <class Executor>
[[nodiscard]] status gather_chunks(Executor& executor, const cut_launch_arguments& job, const partition_state* joined);

template <class Executor>
class cut_launcher {
 public:
  virtual ~cut_launcher() = default;
  /// Puts the kernels that cut the batch into the executor's stream.
  [[nodiscard]] virtual status enqueue(Executor& executor, const cut_launch_arguments& job) const = 0;
  [[nodiscard]] virtual chunk_estimates sizes() const = 0;
  /// The reach of the cut finder: no chunk is longer.
  [[nodiscard]] virtual std::uint64_t reach() const = 0;
  [[nodiscard]] virtual std::uint32_t levels() const = 0;
};

template <class Executor, class Specification>
class cut_launcher_for final : public cut_launcher<Executor> {
 public:
  /// Copies the specification's table to the executor.
  [[nodiscard]] static result<std::unique_ptr<cut_launcher<Executor>>> make(Executor& executor,
                                                                            const Specification& specification) {
    const auto& words = specification.table;
    CUTPOINT_TRY(auto table, executor.template allocate<std::uint64_t>(words.size()));
    std::unique_ptr<cut_launcher_for> launcher(new cut_launcher_for(specification, std::move(table)));
    CUTPOINT_RETURN_IF_FAILED(executor.copy_in(launcher->table_.data(), words.data(), words.size()));
    CUTPOINT_RETURN_IF_FAILED(executor.wait());
    return std::unique_ptr<cut_launcher<Executor>>(std::move(launcher));
  }
  ~cut_launcher_for() override {
    if constexpr (requires { Specification::is_secret; }) Executor::erase(table_);
  }
  cut_launcher_for(const cut_launcher_for&) = delete;
  cut_launcher_for& operator=(const cut_launcher_for&) = delete;

  status enqueue(Executor& executor, const cut_launch_arguments& job) const override;
  chunk_estimates sizes() const override { return specification_.sizes; }
  std::uint64_t reach() const override { return specification_.cut_finder(nullptr).reach; }
  std::uint32_t levels() const override { return Specification::levels; }

 private:
  using cut_finder = decltype(std::declval<const Specification&>().cut_finder(nullptr));
  using table_words = typename Executor::template array<std::uint64_t>;

  cut_launcher_for(const Specification& specification, table_words table)
      : specification_(specification), table_(std::move(table)) {}

  Specification specification_;
  table_words table_;
};

// Not inline as definitions in the class would be: sources with `extern template` declarations do not compile the kernels.

template <class Executor>
status gather_chunks(Executor& executor, const cut_launch_arguments& job, const partition_state* joined) {
  const partitioned_batch& batch = job.batch;
  CUTPOINT_RETURN_IF_FAILED(executor.launch(count_chunks_kernel{batch, joined, job.counts}));
  CUTPOINT_RETURN_IF_FAILED(executor.prefix_sum(job.counts, job.firsts, batch.partition_count));
  return executor.launch(gather_chunks_kernel{{batch}, joined, job.firsts, job.chunks});
}

template <class Executor, class Specification>
status cut_launcher_for<Executor, Specification>::enqueue(Executor& executor, const cut_launch_arguments& job) const {
  if constexpr (Specification::levels != 0) {
    CUTPOINT_RETURN_IF_FAILED(executor.launch(specification_.scan(job.batch.in, table_.data())));
  }
  const cut_kernel_arguments<cut_finder> work{job.batch, specification_.cut_finder(table_.data())};
  partition_state* before = job.states[0];
  partition_state* after = job.states[1];
  CUTPOINT_RETURN_IF_FAILED(executor.launch(map_partitions_kernel<cut_finder>{{work}, before}));
  for (std::uint32_t round = 0; round < job.rounds; ++round, std::swap(before, after)) {
    CUTPOINT_RETURN_IF_FAILED(executor.launch(join_kernel<cut_finder>{{work}, before, after, job.changed + round}));
  }
  const std::uint32_t* const last_changed = job.changed + job.rounds - 1;
  CUTPOINT_RETURN_IF_FAILED(executor.launch(sequential_join_kernel<cut_finder>{work, before, last_changed}));
  return gather_chunks(executor, job, before);
}

}  // namespace cutpoint::cuda
