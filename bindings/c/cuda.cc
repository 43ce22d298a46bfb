// The functions of the interface for C that cut and fingerprint buffers in device memory.
#include <memory>
#include <utility>

#include <cutpoint/cuda.h>
#include <cutpoint/cutpoint_cuda.h>

#include "bindings/c/options.h"
#include "bindings/c/structures.h"

struct cutpoint_cuda {
  cutpoint::device_batch_chunker batches;
};

struct cutpoint_cuda_dedup {
  std::unique_ptr<cutpoint::device_allocator> memory;  ///< null: the device's pool
  cutpoint::device_digest_table known;                 ///< goes before its memory
};

namespace cutpoint::embed {

namespace {

constexpr bool is_same(device_batch_problem there, std::uint32_t here) {
  return static_cast<std::uint32_t>(there) == here;
}
static_assert(is_same(device_batch_problem::none, CUTPOINT_CUDA_PROBLEM_NONE));
static_assert(is_same(device_batch_problem::too_many_buffers, CUTPOINT_CUDA_TOO_MANY_BUFFERS));
static_assert(is_same(device_batch_problem::buffer_too_long, CUTPOINT_CUDA_BUFFER_TOO_LONG));
static_assert(is_same(device_batch_problem::too_many_bytes, CUTPOINT_CUDA_TOO_MANY_BYTES));
static_assert(is_same(device_batch_problem::too_many_chunks, CUTPOINT_CUDA_TOO_MANY_CHUNKS));

outcome make_batches(const cutpoint_cuda_options* user_options, cutpoint_cuda** created) {
  if (created == nullptr) return {CUTPOINT_INVALID_ARGUMENT, "cuda is null: there is no place for the handle"};
  *created = nullptr;
  cutpoint_cuda_options options = {};
  if (outcome done = read_structure(user_options, "cuda_options", sizeof options, options); !done.ok()) return done;
  if (options.reserved != 0) return {CUTPOINT_INVALID_ARGUMENT, "cuda_options' reserved is not 0"};
  const auto cuts = parse_cuts(options.cuts != nullptr ? options.cuts : "fastcdc");
  if (!cuts) return cuts.error();
  fingerprint_recipe recipe = fingerprint_kind::sha256;
  if (outcome done = read_fingerprint(options.fingerprint, options.key, recipe); !done.ok()) return done;
  auto batches = device_batch_chunker::make(*cuts, recipe, options.device);
  if (!batches) return batches.error();
  *created = new cutpoint_cuda{*std::move(batches)};
  return {};
}

/// Copies a structure of the caller that must not be null.
template <class Structure>
outcome read_needed(const Structure* user_structure, std::string_view name, Structure& read) {
  if (user_structure == nullptr) return {CUTPOINT_INVALID_ARGUMENT, std::string(name) + " is null"};
  return read_structure(user_structure, name, sizeof(Structure), read);
}

outcome read_bounds(const cutpoint_cuda_bounds* user_bounds, device_batch_bounds& bounds) {
  cutpoint_cuda_bounds raw = {};
  if (outcome done = read_needed(user_bounds, "cuda_bounds", raw); !done.ok()) return done;
  bounds = {.max_buffers = raw.max_buffers,
            .max_buffer_bytes = raw.max_buffer_bytes,
            .max_total_bytes = raw.max_total_bytes,
            .max_chunks = raw.max_chunks};
  return {};
}

outcome check_handle(const cutpoint_cuda* cuda) {
  return cuda != nullptr ? outcome() : outcome(CUTPOINT_INVALID_ARGUMENT, "cuda is null");
}

outcome size_batches(const cutpoint_cuda* cuda, const cutpoint_cuda_bounds* user_bounds,
                     cutpoint_cuda_sizes* user_sizes) {
  if (outcome done = check_handle(cuda); !done.ok()) return done;
  device_batch_bounds bounds;
  if (outcome done = read_bounds(user_bounds, bounds); !done.ok()) return done;
  if (user_sizes == nullptr) return {CUTPOINT_INVALID_ARGUMENT, "sizes is null"};
  const auto workspace_bytes = cuda->batches.workspace_bytes(bounds);
  if (!workspace_bytes) return workspace_bytes.error();
  const auto max_chunks = cuda->batches.max_chunks(bounds);
  if (!max_chunks) return max_chunks.error();
  const cutpoint_cuda_sizes sizes = {.struct_bytes = sizeof sizes,
                                     .workspace_bytes = *workspace_bytes,
                                     .max_chunks = *max_chunks,
                                     .digest_bytes = cuda->batches.digest_bytes()};
  return write_structure(sizes, "cuda_sizes", *user_sizes);
}

/// Calls the caller's functions.
class user_allocator final : public device_allocator {
 public:
  explicit user_allocator(const cutpoint_cuda_allocator& functions) : functions_(functions) {}
  void* allocate(std::size_t byte_count, CUstream_st* stream) override {
    return functions_.allocate(functions_.context, byte_count, stream);
  }
  void deallocate(void* memory, std::size_t byte_count, CUstream_st* stream) override {
    functions_.deallocate(functions_.context, memory, byte_count, stream);
  }

 private:
  cutpoint_cuda_allocator functions_;
};

outcome read_allocator(const cutpoint_cuda_allocator* user_functions, cutpoint_cuda_allocator& functions) {
  if (outcome done = read_needed(user_functions, "cuda_allocator", functions); !done.ok()) return done;
  if (functions.allocate != nullptr && functions.deallocate != nullptr) return {};
  return {CUTPOINT_INVALID_ARGUMENT, "cuda_allocator lacks a function"};
}

/// Reads what all batches have, and calls `enqueue(bounds, batch, chunks)`.
template <class Enqueue>
outcome enqueue_batch(const cutpoint_cuda* cuda, const cutpoint_cuda_bounds* user_bounds,
                      const cutpoint_cuda_batch* user_batch, const cutpoint_cuda_chunks* user_chunks, Enqueue enqueue) {
  if (outcome done = check_handle(cuda); !done.ok()) return done;
  device_batch_bounds bounds;
  if (outcome done = read_bounds(user_bounds, bounds); !done.ok()) return done;
  cutpoint_cuda_batch batch = {};
  if (outcome done = read_needed(user_batch, "cuda_batch", batch); !done.ok()) return done;
  cutpoint_cuda_chunks chunks = {};
  if (outcome done = read_needed(user_chunks, "cuda_chunks", chunks); !done.ok()) return done;
  return enqueue(bounds,
                 device_batch{.buffers = batch.buffers,
                              .byte_counts = batch.byte_counts,
                              .buffer_count = batch.buffer_count,
                              .ends = batch.ends},
                 device_batch_chunks{.first_chunks = chunks.first_chunks,
                                     .offsets = chunks.offsets,
                                     .lengths = chunks.lengths,
                                     .digests = chunks.digests,
                                     .problem = chunks.problem});
}

outcome make_dedup(const cutpoint_cuda_dedup_options* user_options, CUstream_st* stream,
                   cutpoint_cuda_dedup** created) {
  if (created == nullptr) return {CUTPOINT_INVALID_ARGUMENT, "dedup is null: there is no place for the handle"};
  *created = nullptr;
  cutpoint_cuda_dedup_options options = {};
  if (outcome done = read_needed(user_options, "cuda_dedup_options", options); !done.ok()) return done;
  std::unique_ptr<user_allocator> memory;
  if (options.allocator != nullptr) {
    cutpoint_cuda_allocator functions = {};
    if (outcome done = read_allocator(options.allocator, functions); !done.ok()) return done;
    memory = std::make_unique<user_allocator>(functions);
  }
  auto known = device_digest_table::make(options.digest_bytes, stream, memory.get(), options.device);
  if (!known) return known.error();
  *created = new cutpoint_cuda_dedup{std::move(memory), *std::move(known)};
  return {};
}

outcome insert_digests(cutpoint_cuda_dedup* dedup, const std::uint8_t* digests, std::uint32_t count,
                       std::uint32_t* new_chunks, std::uint32_t* new_count) {
  if (dedup == nullptr) return {CUTPOINT_INVALID_ARGUMENT, "dedup is null"};
  if (new_count == nullptr) return {CUTPOINT_INVALID_ARGUMENT, "new_count is null"};
  const auto inserted = dedup->known.insert(digests, count, new_chunks);
  if (!inserted) return inserted.error();
  *new_count = *inserted;
  return {};
}

}  // namespace

}  // namespace cutpoint::embed

extern "C" {

cutpoint_status cutpoint_cuda_create(const cutpoint_cuda_options* options, cutpoint_cuda** cuda,
                                     cutpoint_error* error) {
  return cutpoint::embed::guarded(error, [&] { return cutpoint::embed::make_batches(options, cuda); });
}

void cutpoint_cuda_destroy(cutpoint_cuda* cuda) { delete cuda; }

cutpoint_status cutpoint_cuda_size(const cutpoint_cuda* cuda, const cutpoint_cuda_bounds* bounds,
                                   cutpoint_cuda_sizes* sizes, cutpoint_error* error) {
  return cutpoint::embed::guarded(error, [&] { return cutpoint::embed::size_batches(cuda, bounds, sizes); });
}

cutpoint_status cutpoint_cuda_enqueue(const cutpoint_cuda* cuda, const cutpoint_cuda_bounds* bounds,
                                      const cutpoint_cuda_batch* batch, const cutpoint_cuda_chunks* chunks,
                                      void* workspace, uint64_t workspace_byte_count, struct CUstream_st* stream,
                                      cutpoint_error* error) {
  using cutpoint::embed::outcome;
  return cutpoint::embed::guarded(error, [&] {
    return cutpoint::embed::enqueue_batch(cuda, bounds, batch, chunks, [&](const auto&... read) -> outcome {
      return cuda->batches.enqueue(read..., workspace, workspace_byte_count, stream);
    });
  });
}

cutpoint_status cutpoint_cuda_enqueue_allocating(const cutpoint_cuda* cuda, const cutpoint_cuda_bounds* bounds,
                                                 const cutpoint_cuda_batch* batch, const cutpoint_cuda_chunks* chunks,
                                                 const cutpoint_cuda_allocator* allocator, struct CUstream_st* stream,
                                                 cutpoint_error* error) {
  using cutpoint::embed::outcome;
  return cutpoint::embed::guarded(error, [&] {
    return cutpoint::embed::enqueue_batch(cuda, bounds, batch, chunks, [&](const auto&... read) -> outcome {
      cutpoint_cuda_allocator functions = {};
      if (outcome done = cutpoint::embed::read_allocator(allocator, functions); !done.ok()) return done;
      cutpoint::embed::user_allocator memory(functions);
      return cuda->batches.enqueue(read..., memory, stream);
    });
  });
}

cutpoint_status cutpoint_cuda_describe_problem(uint32_t problem, const cutpoint_cuda_bounds* user_bounds,
                                               cutpoint_error* error) {
  using cutpoint::embed::outcome;
  return cutpoint::embed::guarded(error, [&]() -> outcome {
    cutpoint::device_batch_bounds bounds;
    if (outcome done = cutpoint::embed::read_bounds(user_bounds, bounds); !done.ok()) return done;
    return cutpoint::describe_problem(static_cast<cutpoint::device_batch_problem>(problem), bounds);
  });
}

cutpoint_status cutpoint_cuda_dedup_create(const cutpoint_cuda_dedup_options* options, struct CUstream_st* stream,
                                           cutpoint_cuda_dedup** dedup, cutpoint_error* error) {
  return cutpoint::embed::guarded(error, [&] { return cutpoint::embed::make_dedup(options, stream, dedup); });
}

void cutpoint_cuda_dedup_destroy(cutpoint_cuda_dedup* dedup) { delete dedup; }

cutpoint_status cutpoint_cuda_dedup_insert(cutpoint_cuda_dedup* dedup, const uint8_t* digests, uint32_t count,
                                           uint32_t* new_chunks, uint32_t* new_count, cutpoint_error* error) {
  return cutpoint::embed::guarded(
      error, [&] { return cutpoint::embed::insert_digests(dedup, digests, count, new_chunks, new_count); });
}

uint64_t cutpoint_cuda_dedup_size(const cutpoint_cuda_dedup* dedup) {
  return dedup != nullptr ? dedup->known.size() : 0;
}

}  // extern "C"
