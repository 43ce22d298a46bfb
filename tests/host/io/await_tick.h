// Waits for the kernel's clock for time stamps, which has a tick of some milliseconds.
#pragma once

#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/host/io/temporary_folder.h"

namespace cutpoint::tests {

/// Waits until a change gets another ctime than that of the file.
inline void await_next_tick(const std::string& path) {
  const temporary_folder folder;
  const std::string other = folder.make_file("other");
  struct stat before = {};
  struct stat now = {};
  ASSERT_EQ(::stat(path.c_str(), &before), 0);
  do {
    ASSERT_EQ(::chmod(other.c_str(), 0600), 0);
    ASSERT_EQ(::stat(other.c_str(), &now), 0);
  } while (now.st_ctim.tv_sec == before.st_ctim.tv_sec && now.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
}

}  // namespace cutpoint::tests
