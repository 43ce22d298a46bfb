// What `bench` measures on: bytes in memory, random or a file's.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>

namespace cutpoint::cli {

/// Bytes that begin where a cache line does.
class bench_data {
 public:
  /// Pseudo-random bytes, the same everywhere for one seed.
  [[nodiscard]] static bench_data random(std::uint64_t size, std::uint64_t seed = 0);
  /// The first bytes of files one after the other, all of them where they have fewer. Errors: io_error, also for an empty
  /// file; cancelled.
  [[nodiscard]] static result<bench_data> of_files(const std::vector<std::string>& paths, std::uint64_t at_most,
                                                   const cancellation& cancel);

  /// A copy of these, one after the other.
  [[nodiscard]] static bench_data of_pieces(const std::vector<byte_span>& pieces);

  [[nodiscard]] byte_span bytes() const { return {reinterpret_cast<const std::uint8_t*>(lines_.data()), size_}; }

 private:
  struct alignas(64) line {
    std::array<std::uint8_t, 64> bytes;
  };
  explicit bench_data(std::uint64_t size) : lines_((size + sizeof(line) - 1) / sizeof(line)), size_(size) {}

  std::vector<line> lines_;
  std::uint64_t size_;
};

}  // namespace cutpoint::cli
