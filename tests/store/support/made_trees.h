// Trees of files that tests back up.
#pragma once

#include "tests/host/io/temporary_folder.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {

[[nodiscard]] inline std::string drawn_text(content what, std::size_t bytes, std::uint64_t seed) {
  seeded_choices random(seed);
  const auto stream = make_stream(what, bytes, random);
  return {stream.begin(), stream.end()};
}

/// Makes "tree" with regular files, folders, a link and a hard link, of about 250 KiB.
inline void make_small_tree(const temporary_folder& folder) {
  folder.make_file("tree/empty", "");
  folder.make_file("tree/large", drawn_text(content::random, 150'000, 1));
  folder.make_file("tree/text", drawn_text(content::text, 20'000, 2));
  for (int i = 0; i < 30; ++i) {
    folder.make_file("tree/many/file" + std::to_string(i),
                     drawn_text(content::random, static_cast<std::size_t>(i) * 60, 9));
  }
  folder.make_file("tree/sub/deep/file", drawn_text(content::random, 40'000, 3));
  folder.make_link("text", "tree/link");
}

}  // namespace cutpoint::tests
