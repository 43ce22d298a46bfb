// Chunk traces in memory for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/cluster/chunk_trace.h>
#include <cutpoint/cluster/routed_chunk.h>
#include <gtest/gtest.h>

#include "host/core/splitmix.h"

namespace cutpoint::tests {

/// Chunks of 2 to 6 KiB. `distinct` bounds the number of different fingerprints; 0 means that nearly all differ.
inline std::vector<cluster::routed_chunk> random_chunks(splitmix64& random, std::size_t count,
                                                        std::uint64_t distinct = 0) {
  std::vector<cluster::routed_chunk> chunks(count);
  for (cluster::routed_chunk& each : chunks) {
    each.fingerprint = distinct == 0 ? random.next() : splitmix64::mixed(random.next() % distinct + 1);
    each.length = static_cast<std::uint32_t>(2048 + each.fingerprint % 4096);
  }
  return chunks;
}

struct traced_file {
  std::string application;
  std::uint32_t client;
  std::vector<cluster::routed_chunk> chunks;

  bool operator==(const traced_file&) const = default;
};

inline std::string trace_bytes(const std::vector<traced_file>& files) {
  std::string bytes;
  cluster::chunk_trace_writer writer([&](std::string_view more) {
    bytes += more;
    return status();
  });
  for (const traced_file& file : files) {
    EXPECT_TRUE(writer.begin_file(file.application, file.client).ok());
    for (const cluster::routed_chunk& each : file.chunks) EXPECT_TRUE(writer.add(each).ok());
  }
  EXPECT_TRUE(writer.finish().ok());
  return bytes;
}

/// Files of three classes and four clients, from none to 600 chunks. About half of the chunks are duplicates.
inline std::vector<traced_file> similar_files(std::uint64_t seed, std::size_t count) {
  splitmix64 random(seed);
  std::vector<traced_file> files(count);
  for (traced_file& file : files) {
    const std::uint64_t application = random.next() % 3;
    file.application = std::string(1, static_cast<char>('a' + application));
    file.client = static_cast<std::uint32_t>(random.next() % 4);
    const std::size_t chunk_count = random.next() % 20 == 0 ? 0 : random.next() % 600;
    std::uint64_t data = 0;
    for (std::size_t i = 0; i < chunk_count; ++i) {
      data = random.next() % 50 == 0 || i == 0 ? random.next() % 20'000 : data + 1;  // neighbours recur together
      const std::uint64_t fingerprint = splitmix64::mixed(data * 4 + application);
      file.chunks.push_back({fingerprint, static_cast<std::uint32_t>(2048 + fingerprint % 4096)});
    }
  }
  return files;
}

}  // namespace cutpoint::tests
