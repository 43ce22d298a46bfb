// What a store has, as its users see it.
#pragma once

#include <string>

#include <cutpoint/store.h>
#include <gtest/gtest.h>

#include "tests/host/support/value_of.h"

namespace cutpoint::tests {

/// Returns the bytes of a file of a snapshot from an offset on.
inline std::string read_file(backup_store& opened_store, const std::string& snapshot, const std::string& path,
                             std::uint64_t begin = 0) {
  std::string text;
  const status read = opened_store.read_file(snapshot, path, begin, UINT64_MAX, [&](byte_span bytes) {
    text.append(bytes.begin(), bytes.end());
    return status();
  });
  EXPECT_TRUE(read.ok()) << read.message();
  return text;
}

/// Expects that a check of all bytes finds nothing.
inline void expect_clean(backup_store& opened_store) {
  const auto checked = value_of(opened_store.check({.reads_data = true}));
  EXPECT_EQ(checked.object_problems + checked.file_problems, 0u);
}

}  // namespace cutpoint::tests
