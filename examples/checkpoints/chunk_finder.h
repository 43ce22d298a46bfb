// Cuts a checkpoint that is in device memory into chunks, and leaves their digests there: by a GPU, or, where Thrust's
// devices are the processor, by the sequential algorithm, which finds the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <cutpoint/chunker.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>
#include <thrust/copy.h>
#include <thrust/device_vector.h>

#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_CUDA
#include <cutpoint/cuda.h>
#endif

/// The chunks of a checkpoint in order: their places, on the host, and their digests.
struct checkpoint_chunks {
  static constexpr auto fingerprint = cutpoint::fingerprint_kind::blake3;
  static constexpr std::uint32_t digest_bytes = 32;

  std::vector<cutpoint::chunk> places;
  thrust::device_vector<std::uint8_t> digests;  ///< [places.size()][digest_bytes]
};

#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_CUDA

class chunk_finder {
 public:
  [[nodiscard]] static cutpoint::result<chunk_finder> make(const cutpoint::chunker& cuts) {
    auto chunker = cutpoint::device_chunker::make(cuts, checkpoint_chunks::fingerprint, batch_bytes);
    if (!chunker) return chunker.error();
    return chunk_finder(std::move(*chunker));
  }

  /// Appends the chunks of the stream at bytes `begin` to `end`. A stream that is longer than a batch goes on where the last
  /// batch decided no more chunks.
  cutpoint::status append(const thrust::device_vector<std::uint8_t>& bytes, std::uint64_t begin, std::uint64_t end,
                          checkpoint_chunks& out) {
    while (begin < end) {
      const std::uint64_t size = std::min(end - begin, batch_bytes);
      const auto batch =
          chunker_.enqueue(thrust::raw_pointer_cast(bytes.data()) + begin, size, begin + size == end, nullptr);
      if (!batch) return batch.error();
      const auto chunks = chunker_.chunks();
      if (!chunks) return chunks.error();
      const thrust::device_ptr<const std::uint8_t> digests(batch->digests);
      out.digests.insert(out.digests.end(), digests, digests + chunks->size() * out.digest_bytes);
      for (const cutpoint::chunk& each : *chunks) out.places.push_back({begin + each.offset, each.length});
      begin = out.places.back().offset + out.places.back().length;
    }
    return {};
  }

 private:
  static constexpr std::uint64_t batch_bytes = std::uint64_t{1} << 30;

  explicit chunk_finder(cutpoint::device_chunker chunker) : chunker_(std::move(chunker)) {}

  cutpoint::device_chunker chunker_;
};

#else

class chunk_finder {
 public:
  [[nodiscard]] static cutpoint::result<chunk_finder> make(const cutpoint::chunker& cuts) {
    auto print = cutpoint::fingerprinter::make(checkpoint_chunks::fingerprint);
    if (!print) return print.error();
    return chunk_finder(cuts, std::move(*print));
  }

  /// Appends the chunks of the stream at bytes `begin` to `end`.
  cutpoint::status append(const thrust::device_vector<std::uint8_t>& bytes, std::uint64_t begin, std::uint64_t end,
                          checkpoint_chunks& out) {
    const cutpoint::byte_span stream(thrust::raw_pointer_cast(bytes.data()) + begin, end - begin);
    for (const cutpoint::chunk& each : cuts_.find_cuts(stream)) {
      const auto digest = print_(stream.subspan(each.offset, each.length));
      if (!digest) return digest.error();
      out.places.push_back({begin + each.offset, each.length});
      out.digests.insert(out.digests.end(), digest->view().begin(), digest->view().end());
    }
    return {};
  }

 private:
  chunk_finder(const cutpoint::chunker& cuts, cutpoint::fingerprinter print) : cuts_(cuts), print_(std::move(print)) {}

  cutpoint::chunker cuts_;
  cutpoint::fingerprinter print_;
};

#endif
