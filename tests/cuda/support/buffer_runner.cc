#include "tests/cuda/support/buffer_runner.h"

#include <cstring>

#include <host_launchers.h>

#include "cuda/batch/batch_offload.h"
#include "cuda/batch/buffer_batch.h"
#include "tests/cuda/device/on_device.h"
#include "tests/cuda/support/first_device.h"

namespace cutpoint::cuda {
namespace {

constexpr std::size_t guard_bytes = 256;
constexpr std::uint8_t guard = 0x3c;

class host_runner final : public buffer_runner {
 public:
  host_runner(const chunker& cuts, const fingerprint_recipe& recipe, std::uint64_t seed)
      : executor_({.order = thread_order::shuffled(seed)}),
        batches_(std::move(make_cut_launcher(executor_, cuts).value()), recipe) {}

  std::shared_ptr<std::uint8_t> allocate(std::size_t size) override {
    auto* const memory = static_cast<std::uint8_t*>(::operator new(size + 1, std::align_val_t(256)));
    std::memset(memory, 0xa5, size);
    return {memory, [](std::uint8_t* all) { ::operator delete(all, std::align_val_t(256)); }};
  }
  void write(std::uint8_t* destination, byte_span bytes) override {
    if (!bytes.empty()) std::memcpy(destination, bytes.data(), bytes.size());
  }
  std::vector<std::uint8_t> read(const std::uint8_t* source, std::size_t size) override {
    return {source, source + size};
  }
  std::uint32_t digest_bytes() const override { return static_cast<std::uint32_t>(batches_.digest_bytes()); }
  result<std::uint64_t> max_chunks(const device_batch_bounds& bounds) override {
    const auto plan = batches_.plan(bounds);
    if (!plan) return plan.error();
    return plan->max_chunks;
  }
  result<std::uint64_t> workspace_bytes(const device_batch_bounds& bounds) override {
    const auto plan = batches_.plan(bounds);
    if (!plan) return plan.error();
    const auto bytes = batches_.workspace_bytes(executor_, *plan);
    if (!bytes) return bytes.error();
    return std::uint64_t{*bytes};
  }
  status enqueue(const device_batch_bounds& bounds, const device_batch& batch, const device_batch_chunks& chunks,
                 std::uint8_t* workspace, std::uint64_t workspace_byte_count) override {
    const auto plan = batches_.plan(bounds);
    if (!plan) return plan.error();
    return batches_.enqueue(executor_, *plan, batch, chunks, {workspace, workspace_byte_count});
  }

 private:
  host_executor executor_;
  buffer_batch<host_executor> batches_;
};

class device_runner final : public buffer_runner {
 public:
  explicit device_runner(device_batch_chunker batches) : batches_(std::move(batches)) {}

  std::shared_ptr<std::uint8_t> allocate(std::size_t size) override { return allocate_on_device(size).value(); }
  void write(std::uint8_t* destination, byte_span bytes) override {
    const status copied = write_to_device(destination, bytes);
    EXPECT_TRUE(copied.ok()) << copied.message();
  }
  std::vector<std::uint8_t> read(const std::uint8_t* source, std::size_t size) override {
    auto copied = copy_from_device(source, size);
    EXPECT_TRUE(copied.ok()) << copied.error().message();
    return copied ? *std::move(copied) : std::vector<std::uint8_t>(size);
  }
  std::uint32_t digest_bytes() const override { return batches_.digest_bytes(); }
  result<std::uint64_t> max_chunks(const device_batch_bounds& bounds) override { return batches_.max_chunks(bounds); }
  result<std::uint64_t> workspace_bytes(const device_batch_bounds& bounds) override {
    return batches_.workspace_bytes(bounds);
  }
  status enqueue(const device_batch_bounds& bounds, const device_batch& batch, const device_batch_chunks& chunks,
                 std::uint8_t* workspace, std::uint64_t workspace_byte_count) override {
    return batches_.enqueue(bounds, batch, chunks, workspace, workspace_byte_count, nullptr);
  }

 private:
  device_batch_chunker batches_;
};

std::unique_ptr<buffer_runner> make_device_runner(const chunker& cuts, const fingerprint_recipe& recipe,
                                                  std::uint64_t) {
  auto batches = device_batch_chunker::make(cuts, recipe);
  if (batches) return std::make_unique<device_runner>(*std::move(batches));
  ADD_FAILURE() << cuts.canonical() << ": " << batches.error().message();
  return nullptr;
}

}  // namespace

std::vector<buffer_runner_case> buffer_runner_cases() {
#if defined(CUTPOINT_INTERPRETED_DEVICE)
  return {{"interpreter", [] { return std::string(); }, make_device_runner, 10, 6'000, 300, true}};
#else
  const auto make_host_runner = [](const chunker& cuts, const fingerprint_recipe& recipe,
                                   std::uint64_t seed) -> std::unique_ptr<buffer_runner> {
    return std::make_unique<host_runner>(cuts, recipe, seed);
  };
  return {{"host", [] { return std::string(); }, make_host_runner, 20, 20'000, 10'000, false},
          {"device", why_no_device, make_device_runner, 100, 300'000, 10'000, false}};
#endif
}

batch_arrays::batch_arrays(buffer_runner& runner, const device_batch_bounds& bounds)
    : runner_(runner), bounds_(bounds) {
  const auto max_chunks = runner.max_chunks(bounds);
  const auto workspace_bytes = runner.workspace_bytes(bounds);
  if (!max_chunks || !workspace_bytes) {
    ADD_FAILURE() << (max_chunks ? workspace_bytes.error() : max_chunks.error()).message();
    return;
  }
  max_chunks_ = *max_chunks;
  workspace_bytes_ = *workspace_bytes;
  workspace_ = array<std::uint8_t>(workspace_bytes_ + guard_bytes);
  runner.write(workspace_ + workspace_bytes_, std::vector<std::uint8_t>(guard_bytes, guard));
  input_ = {.buffers = array<const std::uint8_t*>(bounds.max_buffers),
            .byte_counts = array<std::uint64_t>(bounds.max_buffers),
            .buffer_count = array<std::uint32_t>(1),
            .ends = array<std::uint8_t>(bounds.max_buffers)};
  output_ = {.first_chunks = array<std::uint32_t>(bounds.max_buffers + 1),
             .offsets = array<std::uint64_t>(max_chunks_),
             .lengths = array<std::uint32_t>(max_chunks_),
             .digests = array<std::uint8_t>(max_chunks_ * runner.digest_bytes()),
             .problem = array<std::uint32_t>(1)};
}

void batch_arrays::write(const host_buffers& buffers) {
  buffers_.clear();
  std::vector<const std::uint8_t*> addresses;
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 0; i < buffers.bytes.size(); ++i) {
    const byte_span bytes = buffers.bytes[i];
    sizes.push_back(bytes.size());
    if (bytes.empty()) {
      addresses.push_back(nullptr);
      continue;
    }
    const std::size_t lead = buffers.leads[i];
    buffers_.push_back(runner_.allocate((lead + bytes.size() + 15) / 16 * 16));
    runner_.write(buffers_.back().get() + lead, bytes);
    addresses.push_back(buffers_.back().get() + lead);
  }
  const auto fill = [&](const auto* destination, const auto& values, std::size_t most) {
    const std::size_t size = std::min(values.size(), most) * sizeof values[0];
    runner_.write(reinterpret_cast<std::uint8_t*>(
                      const_cast<std::remove_const_t<std::remove_pointer_t<decltype(destination)>>*>(destination)),
                  {reinterpret_cast<const std::uint8_t*>(values.data()), size});
  };
  const std::vector<std::uint32_t> count{static_cast<std::uint32_t>(buffers.bytes.size())};
  fill(input_.buffers, addresses, bounds_.max_buffers);
  fill(input_.byte_counts, sizes, bounds_.max_buffers);
  fill(input_.ends, buffers.ends, bounds_.max_buffers);
  fill(input_.buffer_count, count, 1);
}

status batch_arrays::enqueue() { return runner_.enqueue(bounds_, input_, output_, workspace_, workspace_bytes_); }

status batch_arrays::run(const host_buffers& buffers) {
  write(buffers);
  status outcome = enqueue();
  EXPECT_EQ(runner_.read(workspace_ + workspace_bytes_, guard_bytes), std::vector<std::uint8_t>(guard_bytes, guard))
      << "bytes after the workspace were changed";
  return outcome;
}

std::vector<std::uint32_t> batch_arrays::first_chunks() { return read(output_.first_chunks, bounds_.max_buffers + 1); }

device_batch_problem batch_arrays::problem() {
  const auto problem = static_cast<device_batch_problem>(read(output_.problem, 1)[0]);
  if (problem != device_batch_problem::none) {
    EXPECT_EQ(first_chunks(), std::vector<std::uint32_t>(bounds_.max_buffers + 1));
  }
  return problem;
}

void batch_arrays::expect_chunks(const host_buffers& buffers, const chunker& cuts, const fingerprint_recipe& recipe) {
  ASSERT_EQ(problem(), device_batch_problem::none) << cuts.canonical();
  const auto firsts = first_chunks();
  const std::uint32_t count = firsts.back();
  ASSERT_LE(count, max_chunks_);
  const auto offsets = read(output_.offsets, count);
  const auto lengths = read(output_.lengths, max_chunks_);
  const auto digests = read(output_.digests, std::size_t{count} * runner_.digest_bytes());
  auto print = fingerprinter::make(recipe);
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < buffers.bytes.size(); ++i) {
    SCOPED_TRACE(testing::Message() << cuts.canonical() << ", buffer " << i << " of " << buffers.bytes.size()
                                    << " with " << buffers.bytes[i].size() << " bytes after " << buffers.leads[i]);
    const byte_span bytes = buffers.bytes[i];
    std::vector<chunk> expected = cuts.find_cuts(bytes);
    while (buffers.ends[i] == 0 && !expected.empty() && bytes.size() - expected.back().offset < cuts.reach()) {
      expected.pop_back();
    }
    ASSERT_EQ(firsts[i], number);
    ASSERT_EQ(firsts[i + 1] - firsts[i], expected.size());
    for (const chunk& each : expected) {
      ASSERT_EQ(offsets[number], each.offset);
      ASSERT_EQ(lengths[number], each.length);
      if (runner_.digest_bytes() != 0) {
        const digest wanted = *(*print)(bytes.subspan(each.offset, each.length));
        ASSERT_TRUE(std::equal(wanted.view().begin(), wanted.view().end(), digests.begin() + number * wanted.size))
            << "the digest of the chunk at " << each.offset;
      }
      ++number;
    }
  }
  for (std::size_t i = buffers.bytes.size(); i < firsts.size(); ++i) ASSERT_EQ(firsts[i], number);
  for (std::size_t i = number; i < max_chunks_; ++i) ASSERT_EQ(lengths[i], 0u);
}

}  // namespace cutpoint::cuda
