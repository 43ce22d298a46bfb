// Tests the host's block: it runs kernel bodies as a device does, and detects errors that a device may not show.
#include "cuda/kernel/block.h"

#include <gtest/gtest.h>

#include "cuda/host_double/host_block.h"
#include "tests/cuda/kernel/block_examples.h"
#include "tests/cuda/kernel/block_kernels.h"

namespace cutpoint::cuda {
namespace {

const thread_order all_orders[] = {thread_order::forward(), thread_order::reversed(), thread_order::shuffled(1),
                                   thread_order::shuffled(2)};

host_launch example_launch(const thread_order& order) {
  return {
      .thread_count = example_threads, .shared_bytes = shared_size<std::uint32_t>(2 * example_threads), .order = order};
}

template <class Example>
void expect_example(example which) {
  const auto in = example_input();
  for (const thread_order& order : all_orders) {
    std::vector<std::uint32_t> out(in.size());
    const auto faults =
        run_on_host(example_launch(order), [&](auto& block) { Example{}(block, in.data(), out.data()); });
    EXPECT_TRUE(faults.empty()) << faults.front();
    EXPECT_EQ(out, example_expected(which, in));
  }
}

TEST(host_block, runs_phases_in_any_thread_order) { expect_example<reverse_kernel>(example::reverse); }
TEST(host_block, lands_asynchronous_copies_at_their_wait) { expect_example<rotate_kernel>(example::rotate); }
TEST(host_block, has_the_warp_operations_of_a_device) { expect_example<warp_kernel>(example::warp); }

TEST(host_block, runs_every_thread_of_every_block_once_per_phase) {
  for (thread_order order : all_orders) {
    std::vector<int> runs(3 * 64);
    const auto faults = run_on_host({.block_count = 3, .thread_count = 64, .order = order}, [&](auto& block) {
      block.for_each_thread([&](auto thread) { ++runs[block.index() * block.thread_count() + thread.index()]; });
    });
    EXPECT_TRUE(faults.empty());
    EXPECT_EQ(runs, std::vector<int>(3 * 64, 1));
  }
}

// The following tests plant errors. Most of them would not show on a device, or with threads in forward order.

/// Computes out[i] = in[i-1] through shared memory, without the barrier that is needed between the two phases.
std::vector<std::uint32_t> shift_without_barrier(const thread_order& order) {
  const auto in = example_input();
  std::vector<std::uint32_t> out(in.size());
  const auto faults = run_on_host(example_launch(order), [&](auto& block) {
    const auto copy = block.template shared<std::uint32_t>(block.thread_count());
    block.for_each_thread([&](auto thread) {
      copy[thread.index()] = in[thread.index()];
      if (thread.index() > 0) out[thread.index()] = copy[thread.index() - 1];
    });
  });
  EXPECT_TRUE(faults.empty());
  return out;
}

TEST(missing_barrier, passes_unseen_in_forward_order_and_is_caught_in_the_others) {
  const auto in = example_input();
  std::vector<std::uint32_t> right(in.size());
  std::copy(in.begin(), in.end() - 1, right.begin() + 1);
  EXPECT_EQ(shift_without_barrier(thread_order::forward()), right);
  EXPECT_NE(shift_without_barrier(thread_order::reversed()), right);
  EXPECT_NE(shift_without_barrier(thread_order::shuffled(1)), right);
}

/// Runs one phase in which thread 0 of one warp calls `body(array)` with an array of 33 words. Returns the detected
/// faults.
template <class Body>
std::vector<std::string> faults_of_one_thread(Body body) {
  const host_launch launch{.thread_count = warp_size, .shared_bytes = shared_size<std::uint32_t>(33)};
  return run_on_host(launch, [&](auto& block) {
    const auto array = block.template shared<std::uint32_t>(33);
    block.for_each_thread([&](auto thread) {
      if (thread.index() == 0) body(array);
    });
  });
}

TEST(shared_memory, overrun_by_index_is_caught) {
  const std::vector<std::string> caught{"shared array 0: index 33 of 33"};
  EXPECT_EQ(faults_of_one_thread([](auto array) { array[33] = 1; }), caught);
}

TEST(shared_memory, overrun_by_pointer_is_caught_by_the_red_zone) {
  const auto past_end = [] { return faults_of_one_thread([](auto array) { array.data()[33] = 1; }); };
  const auto before_begin = [] { return faults_of_one_thread([](auto array) { *(array.data() - 1) = 1; }); };
#if defined(CUTPOINT_ASAN)
  EXPECT_DEATH(static_cast<void>(past_end()), "AddressSanitizer: (use-after-poison|unknown-crash)");
  EXPECT_DEATH(static_cast<void>(before_begin()), "AddressSanitizer: (use-after-poison|unknown-crash)");
#else
  EXPECT_EQ(past_end(), std::vector<std::string>{"shared array 0: written past its end"});
  EXPECT_EQ(before_begin(), std::vector<std::string>{"shared array 0: written before its begin"});
#endif
}

TEST(shared_memory, starts_as_garbage) {
  std::uint32_t seen = 0;
  EXPECT_TRUE(faults_of_one_thread([&](auto array) { seen = array[7]; }).empty());
  EXPECT_EQ(seen, 0xa5a5a5a5);
}

TEST(shared_memory, beyond_the_launch_is_caught) {
  const auto faults = run_on_host({.thread_count = warp_size, .shared_bytes = 128},
                                  [](auto& block) { static_cast<void>(block.template shared<std::uint32_t>(33)); });
  EXPECT_EQ(faults, std::vector<std::string>{"shared memory of 144 bytes, launched with 128"});
}

/// Copies one word of the input with each thread in one phase, and calls `body(thread, pipeline, array)` in the next.
/// Returns the detected faults.
template <class Body>
std::vector<std::string> faults_after_copy(const thread_order& order, Body body) {
  const auto in = example_input();
  return run_on_host(example_launch(order), [&](auto& block) {
    const auto array = block.template shared<std::uint32_t>(block.thread_count());
    auto pipeline = block.template pipeline<std::uint32_t>();
    block.for_each_thread([&](auto thread) {
      pipeline.copy(thread, array, thread.index(), in.data() + thread.index());
      pipeline.commit(thread);
    });
    block.for_each_thread([&](auto thread) { body(thread, pipeline, array); });
  });
}

TEST(asynchronous_copy, read_before_its_wait_is_caught) {
  const auto faults = faults_after_copy(thread_order::forward(), [](auto thread, auto&, auto array) {
    if (thread.index() == 3) static_cast<void>(array[3]);
  });
  EXPECT_EQ(faults, std::vector<std::string>{"shared array 0: element 3 is used before the copy to it has landed"});
}

TEST(asynchronous_copy, read_by_pointer_before_its_wait_is_poisoned) {
  std::uint32_t seen = 0;
  const auto read = [&] {
    return faults_after_copy(thread_order::forward(), [&](auto thread, auto&, auto array) {
      if (thread.index() == 3) seen = array.data()[3];
    });
  };
#if defined(CUTPOINT_ASAN)
  EXPECT_DEATH(static_cast<void>(read()), "AddressSanitizer: (use-after-poison|unknown-crash)");
#else
  EXPECT_TRUE(read().empty());
  EXPECT_EQ(seen, 0xa5a5a5a5);
#endif
}

TEST(asynchronous_copy, of_another_thread_read_in_the_phase_of_the_wait_is_caught) {
  const auto wait_and_read_neighbour = [](auto thread, auto& pipeline, auto array) {
    pipeline.template wait<0>(thread);
    if (thread.index() > 0) static_cast<void>(array[thread.index() - 1]);
  };
  EXPECT_TRUE(faults_after_copy(thread_order::forward(), wait_and_read_neighbour).empty());
  EXPECT_FALSE(faults_after_copy(thread_order::reversed(), wait_and_read_neighbour).empty());
  EXPECT_FALSE(faults_after_copy(thread_order::shuffled(1), wait_and_read_neighbour).empty());
}

TEST(asynchronous_copy, from_a_misaligned_source_is_caught) {
  const auto in = example_input();
  const auto faults = run_on_host(example_launch(thread_order::forward()), [&](auto& block) {
    const auto array = block.template shared<std::uint32_t>(1);
    auto pipeline = block.template pipeline<std::uint32_t>();
    block.for_each_thread([&](auto thread) {
      if (thread.index() == 0) pipeline.copy(thread, array, 0, reinterpret_cast<const char*>(in.data()) + 1);
    });
  });
  EXPECT_EQ(faults, std::vector<std::string>{"an asynchronous copy of 4 bytes has a misaligned source"});
}

TEST(asynchronous_copy, still_open_is_not_waited_for) {
  const auto faults = run_on_host(example_launch(thread_order::forward()), [](auto& block) {
    const std::uint32_t source = 1;
    const auto array = block.template shared<std::uint32_t>(1);
    auto pipeline = block.template pipeline<std::uint32_t>();
    block.for_each_thread([&](auto thread) {
      if (thread.index() == 0) pipeline.copy(thread, array, 0, &source);
      pipeline.template wait<0>(thread);  // without a commit before
    });
    block.for_each_thread([&](auto thread) {
      if (thread.index() == 0) static_cast<void>(array[0]);
    });
  });
  EXPECT_EQ(faults.size(), 1u);
}

TEST(phase, inside_a_phase_is_caught) {
  const auto faults = run_on_host({.thread_count = warp_size}, [](auto& block) {
    block.for_each_thread([&](auto thread) {
      if (thread.index() == 0) block.for_each_thread([](auto) {});
    });
  });
  EXPECT_EQ(faults, std::vector<std::string>{"a phase begins inside a phase"});
}

}  // namespace
}  // namespace cutpoint::cuda
