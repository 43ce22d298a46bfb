// Runs batches of buffers (cuda/batch/buffer_batch.h) on the host double or by `device_batch_chunker`, and gives the chunks back.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <cutpoint/cuda.h>
#include <gtest/gtest.h>

namespace cutpoint::cuda {

/// Memory that kernels can use, and batches of one chunker with one fingerprint. Failures fail the test.
class buffer_runner {
 public:
  virtual ~buffer_runner() = default;

  /// Memory aligned to 256 and full of garbage.
  [[nodiscard]] virtual std::shared_ptr<std::uint8_t> allocate(std::size_t size) = 0;
  virtual void write(std::uint8_t* destination, byte_span bytes) = 0;
  /// Waits for all batches.
  [[nodiscard]] virtual std::vector<std::uint8_t> read(const std::uint8_t* source, std::size_t size) = 0;

  [[nodiscard]] virtual std::uint32_t digest_bytes() const = 0;
  [[nodiscard]] virtual result<std::uint64_t> max_chunks(const device_batch_bounds& bounds) = 0;
  [[nodiscard]] virtual result<std::uint64_t> workspace_bytes(const device_batch_bounds& bounds) = 0;
  [[nodiscard]] virtual status enqueue(const device_batch_bounds& bounds, const device_batch& batch,
                                       const device_batch_chunks& chunks, std::uint8_t* workspace,
                                       std::uint64_t workspace_byte_count) = 0;
};

/// Where the runners run, and the amount of testing.
struct buffer_runner_case {
  std::string name;
  std::string (*why_not)();
  std::unique_ptr<buffer_runner> (*make)(const chunker& cuts, const fingerprint_recipe& recipe, std::uint64_t seed);
  std::uint64_t rounds = 0;   ///< random cases of each algorithm
  std::uint64_t longest = 0;  ///< bytes of most buffers
  std::uint64_t buffers = 0;  ///< of the batch with most of them
  bool is_slow = false;       ///< whether buffers of megabytes take minutes

  friend std::ostream& operator<<(std::ostream& out, const buffer_runner_case& each) { return out << each.name; }
};

[[nodiscard]] std::vector<buffer_runner_case> buffer_runner_cases();

/// Buffers on the host. Those whose stream goes on say so.
struct host_buffers {
  std::vector<std::vector<std::uint8_t>> bytes;
  std::vector<std::size_t> leads;  ///< of each buffer: bytes between a multiple of 16 and its first byte
  std::vector<std::uint8_t> ends;  ///< as `device_batch::ends`

  void add(std::vector<std::uint8_t> buffer, std::size_t lead = 0, bool at_end = true) {
    bytes.push_back(std::move(buffer));
    leads.push_back(lead);
    ends.push_back(at_end ? 1 : 0);
  }
  [[nodiscard]] std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const auto& each : bytes) sum += each.size();
    return sum;
  }
  [[nodiscard]] std::uint64_t longest() const {
    std::uint64_t most = 0;
    for (const auto& each : bytes) most = std::max<std::uint64_t>(most, each.size());
    return most;
  }
  /// The bounds that these buffers just keep.
  [[nodiscard]] device_batch_bounds bounds() const {
    return {.max_buffers = std::max<std::uint64_t>(bytes.size(), 1),
            .max_buffer_bytes = longest(),
            .max_total_bytes = std::max<std::uint64_t>(total(), 1)};
  }
};

/// The arrays of batches within bounds, which may be used again and again.
class batch_arrays {
 public:
  batch_arrays(buffer_runner& runner, const device_batch_bounds& bounds);

  /// Runs a batch. Bytes after the workspace must not change.
  [[nodiscard]] status run(const host_buffers& buffers);
  /// Expects the chunks that the reference finds in the buffers of the last batch.
  void expect_chunks(const host_buffers& buffers, const chunker& cuts, const fingerprint_recipe& recipe);
  /// The problem of the last batch. With one there must be no chunks.
  [[nodiscard]] device_batch_problem problem();
  [[nodiscard]] std::vector<std::uint32_t> first_chunks();
  [[nodiscard]] std::uint64_t max_chunks() const { return max_chunks_; }
  [[nodiscard]] const device_batch& input() const { return input_; }
  [[nodiscard]] const device_batch_chunks& output() const { return output_; }
  [[nodiscard]] std::uint64_t workspace_bytes() const { return workspace_bytes_; }
  /// Writes the addresses and sizes of buffers, and their bytes. They stay until the next call.
  void write(const host_buffers& buffers);
  [[nodiscard]] status enqueue();

 private:
  template <class T>
  T* array(std::size_t count) {
    memory_.push_back(runner_.allocate(count * sizeof(T)));
    return reinterpret_cast<T*>(memory_.back().get());
  }
  template <class T>
  [[nodiscard]] std::vector<T> read(const T* source, std::size_t count) {
    const auto bytes = runner_.read(reinterpret_cast<const std::uint8_t*>(source), count * sizeof(T));
    std::vector<T> values(count);
    if (count != 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  buffer_runner& runner_;
  device_batch_bounds bounds_;
  std::uint64_t max_chunks_ = 0;
  std::uint64_t workspace_bytes_ = 0;
  std::vector<std::shared_ptr<std::uint8_t>> memory_;
  std::vector<std::shared_ptr<std::uint8_t>> buffers_;
  std::uint8_t* workspace_ = nullptr;
  device_batch input_;
  device_batch_chunks output_;
};

}  // namespace cutpoint::cuda
