// Tests the interface for C to GPUs without one: what is refused, and with which sentence. Batches through it are tested on the
// interpreted device (tests/cuda/ptx/c_interface_test.cc).
#include <string>

#include <cutpoint/cutpoint_cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;

class cuda_of_c : public testing::Test {
 protected:
  cutpoint_status create(const cutpoint_cuda_options& options) {
    cutpoint_cuda* created = nullptr;
    const cutpoint_status code = cutpoint_cuda_create(&options, &created, &error_);
    cutpoint_cuda_destroy(created);
    return code;
  }

  cutpoint_error error_ = {};
  cutpoint_cuda_bounds bounds_ = {.struct_bytes = sizeof bounds_,
                                  .max_buffers = 3,
                                  .max_buffer_bytes = 700,
                                  .max_total_bytes = 1'600,
                                  .max_chunks = 15};
};

TEST_F(cuda_of_c, refuses_null_handles_and_results) {
  EXPECT_EQ(cutpoint_cuda_create(nullptr, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("cuda is null"));
  cutpoint_cuda_destroy(nullptr);
  cutpoint_cuda_sizes sizes = {.struct_bytes = sizeof sizes, .workspace_bytes = 0, .max_chunks = 0, .digest_bytes = 0};
  EXPECT_EQ(cutpoint_cuda_size(nullptr, &bounds_, &sizes, nullptr), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_cuda_enqueue(nullptr, &bounds_, nullptr, nullptr, nullptr, 0, nullptr, &error_),
            CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_cuda_enqueue_allocating(nullptr, &bounds_, nullptr, nullptr, nullptr, nullptr, &error_),
            CUTPOINT_INVALID_ARGUMENT);
}

TEST_F(cuda_of_c, names_what_is_wrong_in_the_options) {
  EXPECT_EQ(
      create({.struct_bytes = 3, .cuts = nullptr, .fingerprint = nullptr, .key = nullptr, .device = 0, .reserved = 0}),
      CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("struct_bytes = 3"));
  cutpoint_cuda_options options = {};
  options.struct_bytes = sizeof options;
  options.cuts = "none";
  EXPECT_EQ(create(options), CUTPOINT_UNKNOWN_NAME);
  options.cuts = nullptr;
  options.fingerprint = "none such";
  EXPECT_EQ(create(options), CUTPOINT_UNKNOWN_NAME);
  options.fingerprint = nullptr;
  options.reserved = 1;
  EXPECT_EQ(create(options), CUTPOINT_INVALID_ARGUMENT);
}

TEST_F(cuda_of_c, says_why_there_is_no_device_or_makes_a_handle) {
  cutpoint_cuda_options options = {};
  options.struct_bytes = sizeof options;
  const cutpoint_status code = create(options);
  if (code == CUTPOINT_OK) return;
  EXPECT_EQ(code, CUTPOINT_UNAVAILABLE) << error_.message;
  EXPECT_GT(std::string(error_.message).size(), 10u);
}

TEST_F(cuda_of_c, refuses_a_table_of_digests_by_name) {
  cutpoint_cuda_dedup* dedup = nullptr;
  cutpoint_cuda_dedup_options options = {};
  EXPECT_EQ(cutpoint_cuda_dedup_create(&options, nullptr, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("dedup is null"));
  EXPECT_EQ(cutpoint_cuda_dedup_create(nullptr, nullptr, &dedup, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("cuda_dedup_options is null"));
  EXPECT_EQ(cutpoint_cuda_dedup_create(&options, nullptr, &dedup, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("struct_bytes = 0"));
  options.struct_bytes = sizeof options;
  cutpoint_cuda_allocator allocator = {
      .struct_bytes = sizeof allocator, .context = nullptr, .allocate = nullptr, .deallocate = nullptr};
  options.allocator = &allocator;
  EXPECT_EQ(cutpoint_cuda_dedup_create(&options, nullptr, &dedup, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("lacks a function"));
  options.allocator = nullptr;
  options.device = -1;
  const cutpoint_status code = cutpoint_cuda_dedup_create(&options, nullptr, &dedup, &error_);
  EXPECT_TRUE(code == CUTPOINT_UNAVAILABLE || code == CUTPOINT_INVALID_ARGUMENT) << error_.message;
  EXPECT_EQ(dedup, nullptr);
  cutpoint_cuda_dedup_destroy(nullptr);
  std::uint32_t new_count = 0;
  EXPECT_EQ(cutpoint_cuda_dedup_insert(nullptr, nullptr, 0, nullptr, &new_count, nullptr), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_cuda_dedup_size(nullptr), 0u);
}

TEST_F(cuda_of_c, makes_a_sentence_of_a_problem) {
  EXPECT_EQ(cutpoint_cuda_describe_problem(CUTPOINT_CUDA_PROBLEM_NONE, &bounds_, &error_), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_cuda_describe_problem(CUTPOINT_CUDA_BUFFER_TOO_LONG, &bounds_, &error_),
            CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("max_buffer_bytes = 700"));
  EXPECT_EQ(cutpoint_cuda_describe_problem(CUTPOINT_CUDA_TOO_MANY_CHUNKS, &bounds_, &error_), CUTPOINT_MEMORY_LIMIT);
  EXPECT_EQ(cutpoint_cuda_describe_problem(9, &bounds_, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_cuda_describe_problem(0, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace cutpoint::tests
