// Restores onto files that exist write only what differs, and verified restores find what was not written right.
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/store/support/file_store.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;

constexpr std::size_t large_bytes = 150'000;
constexpr std::size_t most_chunk_bytes = 8192;

struct stat facts_of_file(const std::string& path) {
  struct stat facts = {};
  EXPECT_EQ(::lstat(path.c_str(), &facts), 0) << path;
  return facts;
}

/// Overwrites bytes of a file from an offset on.
void change(const std::string& path, std::streamoff offset, std::string_view bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(offset);
  file << bytes;
}

/// A tree that was backed up and restored, and then is changed and restored again.
class restores_in_place : public restored_tree {
 protected:
  void SetUp() override {
    make_small_tree(source_);
    std::filesystem::create_hard_link(source_ / "tree/text", source_ / "tree/text2");
    // Data, a hole and a run of zeros that are data.
    source_.make_file("tree/sparse", drawn_text(content::random, 20'000, 7));
    std::filesystem::resize_file(source_ / "tree/sparse", 4 * MiB);
    change(source_ / "tree/sparse", 2 * MiB, drawn_text(content::random, 20'000, 8));
    source_.make_file("tree/run", std::string(300'000, 'x'));
    back_up();
    ASSERT_GT(restore(), 0u);
    expect_restored();
  }
  /// Restores with replacement. Returns how many bytes were written.
  std::uint64_t restore(bool (*verifies)() = nullptr) {
    problems_.clear();
    return value_of(file_store(files_).restore(id_, {.path = source_ / "tree",
                                                     .target = target_ / "t",
                                                     .replaces_files = true,
                                                     .verifies = verifies != nullptr && verifies(),
                                                     .threads = 1,
                                                     .problem = note_in(problems_)}))
        .written_bytes;
  }
};

TEST_F(restores_in_place, do_not_touch_files_that_are_right) {
  const struct stat before = facts_of_file(target_ / "t/large");
  const std::uint64_t linked = std::filesystem::file_size(source_ / "tree/text");
  EXPECT_EQ(restore(), linked) << "a file with several names is made anew";
  const struct stat after = facts_of_file(target_ / "t/large");
  EXPECT_EQ(after.st_ino, before.st_ino);
  EXPECT_EQ(after.st_ctim.tv_sec, before.st_ctim.tv_sec);
  EXPECT_EQ(after.st_ctim.tv_nsec, before.st_ctim.tv_nsec);
  expect_restored();
}

TEST_F(restores_in_place, write_only_the_chunks_that_differ) {
  const std::uint64_t always = restore();
  const ino_t inode = facts_of_file(target_ / "t/large").st_ino;
  change(target_ / "t/large", large_bytes / 2, "changed");
  const std::uint64_t written = restore() - always;
  EXPECT_GT(written, 0u);
  EXPECT_LE(written, 2 * most_chunk_bytes) << "the change may cross a cut";
  EXPECT_EQ(facts_of_file(target_ / "t/large").st_ino, inode);
  expect_restored();
}

TEST_F(restores_in_place, give_files_their_length_and_metadata) {
  std::filesystem::resize_file(target_ / "t/large", 2 * large_bytes);
  std::filesystem::resize_file(target_ / "t/sub/deep/file", 10'000);
  ASSERT_EQ(::chmod((target_ / "t/many/file3").c_str(), 0777), 0);
  std::filesystem::remove(target_ / "t/many/file4");
  static_cast<void>(restore());
  expect_restored();
}

TEST_F(restores_in_place, make_holes_where_data_were) {
  const std::uint64_t always = restore();
  change(target_ / "t/sparse", MiB + 12'345, std::string(9'000, 'd'));
  EXPECT_GE(restore(), always + 9'000);
  expect_restored();
}

TEST_F(restores_in_place, write_only_the_repetitions_of_a_run_that_differ) {
  const std::uint64_t always = restore();
  change(target_ / "t/run", 100'000, "y");
  const std::uint64_t written = restore() - always;
  EXPECT_GT(written, 0u);
  EXPECT_LE(written, most_chunk_bytes);
  expect_restored();
}

TEST_F(restores_in_place, replace_files_that_others_could_use) {
  std::filesystem::create_hard_link(target_ / "t/large", target_ / "outside");
  change(target_ / "outside", 0, "mine");
  static_cast<void>(restore());
  expect_restored();
  EXPECT_NE(facts_of_file(target_ / "outside").st_ino, facts_of_file(target_ / "t/large").st_ino);
  std::ifstream outside(target_ / "outside");
  std::string begin(4, ' ');
  outside.read(begin.data(), 4);
  EXPECT_EQ(begin, "mine") << "a name outside the target keeps its content";

  const std::string attribute = "user.cutpoint";
  if (::setxattr((target_ / "t/large").c_str(), attribute.c_str(), "x", 1, 0) != 0) {
    GTEST_SKIP() << "the folder has no extended attributes";
  }
  static_cast<void>(restore());
  expect_restored();
}

TEST_F(restores_in_place, by_another_owner_replace_the_file) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root";
  const ino_t inode = facts_of_file(target_ / "t/large").st_ino;
  const int descriptor = ::open((target_ / "t/large").c_str(), O_RDONLY | O_CLOEXEC);  // keeps the number in use
  ASSERT_EQ(::chown((target_ / "t/large").c_str(), 12345, 12345), 0);
  static_cast<void>(restore());
  EXPECT_NE(facts_of_file(target_ / "t/large").st_ino, inode) << "its owner may have it open";
  ::close(descriptor);
  expect_restored();
}

TEST_F(restores_in_place, need_nothing_from_the_store_for_what_is_right) {
  file_store opened_store(files_);
  // All chunks are lost, and the nodes are not.
  const auto ids = opened_store.objects().list(store::object_kind::container);
  for (const std::string& id : *ids) {
    const auto table = store::read_container_table(opened_store.objects(), id, {});
    std::vector<std::uint8_t>& bytes = *files_->bytes_of("containers/" + id);
    for (const store::placed_record& each : table->records) {
      const bool is_chunk = each.description.kind == store::record_kind::chunk;
      if (is_chunk) bytes[each.position + store::record_header_bytes] ^= 1;
    }
  }
  std::filesystem::remove(target_ / "t/text2");  // now text has one name, too
  change(target_ / "t/large", 0, "wrong");
  static_cast<void>(restore());
  ASSERT_EQ(problems_.size(), 1u) << problems_.begin()->first;
  EXPECT_EQ(problems_.count(target_ / "t/large"), 1u);
  EXPECT_THAT(problems_.begin()->second, HasSubstr("bytes from byte 0 on are lost and were left as they are"));
  // All other files are there.
  std::filesystem::remove(source_ / "tree/large");
  std::filesystem::remove(target_ / "t/large");
  problems_.clear();
  expect_restored();
}

// --- verification -------------------------------------------------------------------------------------------------------

bool yes() { return true; }

TEST_F(restores_in_place, are_right_when_they_are_verified) {
  std::filesystem::remove_all(target_ / "t");
  static_cast<void>(restore(yes));
  expect_restored();
  static_cast<void>(restore(yes));
  expect_restored();
}

TEST_F(restores_in_place, find_what_was_changed_after_it_was_written) {
  std::filesystem::remove_all(target_ / "t");
  // Another program changes the file when a later range of chunks is read.
  bool is_changed = false;
  files_->meanwhile = [&](const std::string& path) {
    const std::string large = target_ / "t/large";
    if (is_changed || !path.starts_with("containers/") || !std::filesystem::exists(large)) return;
    std::ifstream file(large, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const std::size_t written = bytes.find_first_not_of('\0');
    if (written == std::string::npos) return;
    change(large, static_cast<std::streamoff>(written), std::string(1, static_cast<char>(bytes[written] ^ 1)));
    is_changed = true;
  };
  static_cast<void>(restore(yes));
  files_->meanwhile = {};
  ASSERT_TRUE(is_changed);
  ASSERT_EQ(problems_.size(), 1u);
  EXPECT_EQ(problems_.begin()->first, target_ / "t/large");
  EXPECT_THAT(problems_.begin()->second, HasSubstr("were read back with another content"));
}

}  // namespace
}  // namespace cutpoint::tests
