// Plants faults in the compiled kernels and in the use of the runtime, and expects that the interpreted device finds each.
#include <cuda_runtime_api.h>
#include <cutpoint/cuda.h>
#include <gmock/gmock.h>

#include "tests/cuda/device/on_device.h"
#include "tests/cuda/kernel/block_examples.h"
#include "tests/cuda/ptx/device.h"
#include "tests/cuda/support/packed_streams.h"

namespace cutpoint::cuda {
namespace {

using ptx::device;
using ptx::device_call;
using testing::Contains;
using testing::HasSubstr;

/// Replaces what `text` has at `position`.
void replace(std::string& text, std::size_t position, std::size_t size, std::string_view replacement) {
  ASSERT_NE(position, std::string::npos) << "the kernel has changed: the test must plant its fault elsewhere";
  text.replace(position, size, replacement);
}

/// Adds `bytes` to the address of the first instruction of a kernel that begins so.
void move_access(std::string& text, std::string_view opcode, std::string_view bytes) {
  const auto bracket = text.find(']', text.find(opcode));
  const auto plus = text.rfind('+', bracket);
  const auto begin = text.rfind('[', bracket);
  ASSERT_NE(text.find(opcode), std::string::npos);
  const bool has_offset = plus != std::string::npos && plus > begin;
  replace(text, has_offset ? plus : bracket, has_offset ? bracket - plus : 0, "+" + std::string(bytes));
}

/// Removes the instructions of a kernel that begin so.
void remove_all(std::string& text, std::string_view opcode) {
  ASSERT_NE(text.find(opcode), std::string::npos) << "the kernel has changed: the test must plant its fault elsewhere";
  for (auto at = text.find(opcode); at != std::string::npos; at = text.find(opcode)) {
    text.erase(at, text.find('\n', at) - at);
  }
}

/// Runs an example kernel that was altered, and returns the faults that were found.
std::vector<std::string> faults_of(example which, std::function<void(std::string&)> alter) {
  device::instance().plant({.alter = std::move(alter)});
  const auto outcome = run_on_device(which, example_input());
  EXPECT_FALSE(outcome.ok());
  return device::instance().end_of_test();
}

/// Lets lane 5 end before the others vote.
void diverge(std::string& text) {
  replace(text, text.rfind("ret;"), 0, "\n$planted:\n");
  const auto vote = text.find("vote.sync");
  replace(text, text.rfind('\n', vote), 0,
          "\n.reg .b32 %late<1>;\n.reg .pred %fifth<1>;\nmov.u32 %late0, %tid.x;\n"
          "setp.eq.s32 %fifth0, %late0, 5;\n@%fifth0 bra $planted;");
}

TEST(planted_fault, in_a_kernel) {
  const auto moves = [](std::string_view opcode, std::string_view bytes) {
    return [=](std::string& text) { move_access(text, opcode, bytes); };
  };
  const auto removes = [](std::string_view opcode) { return [=](std::string& text) { remove_all(text, opcode); }; };
  const struct {
    example which;
    std::function<void(std::string&)> alter;
    std::string sentence;
  } cases[] = {
      {example::reverse, moves("ld.global.", "2"), "not a multiple of 4"},
      {example::reverse, moves("ld.global.", "512"), "not within an allocation"},
      {example::reverse, moves("st.shared.", "4096"), "not within the launch's shared memory"},
      {example::reverse, removes("bar.sync"), "a race"},
      {example::rotate, removes("cp.async.wait_group"), "asynchronous copy"},
      {example::warp, diverge, "do not come"},
  };
  for (const auto& [which, alter, sentence] : cases) {
    EXPECT_THAT(faults_of(which, alter), Contains(HasSubstr(sentence)));
  }
}

/// A device chunker, its bytes in device memory, and the chunks that it must find.
struct chunking {
  chunker cuts = small_gear();
  std::vector<std::uint8_t> stream = random_bytes(20'000, 1);
  device_chunker there = *device_chunker::make(cuts, fingerprint_kind::sha1, stream.size());
  std::shared_ptr<const std::uint8_t> bytes = *copy_to_device(stream, 3);

  [[nodiscard]] status enqueue(cudaStream_t in) {
    const auto outputs = there.enqueue(bytes.get(), stream.size(), true, in);
    return outputs ? status() : outputs.error();
  }
  [[nodiscard]] bool finds_its_cuts() {
    const auto chunks = there.chunks();
    return chunks && *chunks == cuts.find_cuts(stream);
  }
};

TEST(planted_fault, missing_barriers_in_the_scan_of_a_batch) {
  device::instance().plant({.alter = [](std::string& text) {
    if (text.find("rolling_scan") < text.find('(')) remove_all(text, "bar.sync");
  }});
  {
    chunking work;
    EXPECT_FALSE(work.enqueue(nullptr).ok() && work.finds_its_cuts());
  }
  EXPECT_THAT(device::instance().end_of_test(), Contains(HasSubstr("a race")));
}

TEST(planted_fault, use_of_a_destroyed_stream) {
  {
    chunking work;
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_TRUE(work.enqueue(stream).ok());
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    EXPECT_TRUE(work.finds_its_cuts());  // without its caller's stream
    const status refused = work.enqueue(stream);
    EXPECT_THAT(refused.message(), HasSubstr("a stream is used that was destroyed"));
  }
  EXPECT_THAT(device::instance().end_of_test(), Contains(HasSubstr("a stream is used that was destroyed")));
}

TEST(planted_fault, source_of_a_copy_that_changes_too_early) {
  device::instance().plant({.lose = [](device_call) { return false; }});  // work is only done late
  void* there = nullptr;
  std::uint32_t source = 1;
  ASSERT_EQ(cudaMalloc(&there, sizeof source), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(there, &source, sizeof source, cudaMemcpyHostToDevice, nullptr), cudaSuccess);
  source = 2;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_THAT(device::instance().end_of_test(),  // and it was not freed
              testing::UnorderedElementsAre(HasSubstr("the source of a copy was changed"), "left over: 1 allocations"));
}

/// Runs a batch once with each call of a kind lost. Expects that at most `unneeded` of them are lost without notice.
void expect_each_is_missed(device_call which, int unneeded) {
  int unnoticed = 0;
  for (int number = 0;; ++number) {
    bool is_right = false;
    int calls = 0;
    {
      chunking work;
      device::instance().plant({.lose = [&](device_call call) { return call == which && calls++ == number; }});
      is_right = work.enqueue(nullptr).ok() && work.finds_its_cuts();
      device::instance().plant({});
    }
    is_right = device::instance().end_of_test().empty() && is_right;
    if (calls <= number) {  // none was lost
      EXPECT_TRUE(is_right);
      EXPECT_GT(number, unneeded);
      break;
    }
    unnoticed += is_right ? 1 : 0;
  }
  EXPECT_LE(unnoticed, unneeded);
}

TEST(planted_fault, lost_copy) { expect_each_is_missed(device_call::copy, 0); }
TEST(planted_fault, memory_that_is_not_cleared) { expect_each_is_missed(device_call::clear, 0); }
TEST(planted_fault, lost_wait) { expect_each_is_missed(device_call::wait, 1); }  // the first is for an earlier batch

}  // namespace
}  // namespace cutpoint::cuda
