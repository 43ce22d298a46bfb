// Tests the plan of a batch's partitions.
#include "cuda/batch/workspace.h"

#include <gtest/gtest.h>

#include "cuda/batch/make_batch_offload.h"
#include "tests/host/algorithms/chunkers.h"

namespace cutpoint::cuda {
namespace {

partition_plan plan_of(const char* name, std::uint64_t batch_bytes) {
  return plan_partitions(sizes_of(tests::chunker_of(name)), {.bytes = batch_bytes});
}

TEST(partition_plan, gives_a_batch_more_partitions_if_chains_take_long_to_meet) {
  for (const char* name : {"ae-max", "ae-min", "ram"}) {
    const chunk_estimates sizes = sizes_of(tests::chunker_of(name));
    const std::uint64_t resync_bytes = sizes.resync_chunks * sizes.typical_chunk_bytes;
    EXPECT_EQ(plan_of(name, 32 * MiB).partition_bytes, resync_bytes) << name;
    EXPECT_EQ(plan_of(name, 2 * GiB).partition_bytes, 4 * resync_bytes) << name;
  }
}

TEST(partition_plan, has_rounds_in_which_nearly_all_chains_meet) {
  for (const catalog_entry& entry : catalog()) {
    const chunk_estimates sizes = sizes_of(entry.defaults);
    for (const std::uint64_t batch_bytes : {64 * KiB, 32 * MiB, 2 * GiB}) {
      const partition_plan plan = plan_partitions(sizes, {.bytes = batch_bytes});
      EXPECT_GE(plan.rounds, 4u) << entry.name;
      EXPECT_LE(plan.rounds, 8u) << entry.name;
      EXPECT_GE(plan.rounds * plan.partition_bytes, 8 * sizes.resync_chunks * sizes.typical_chunk_bytes) << entry.name;
    }
  }
}

}  // namespace
}  // namespace cutpoint::cuda
