// Tests of the CPU quota, on made trees of control groups.
#include "host/machine/cpu_quota.h"

#include <cutpoint/topology.h>
#include <gtest/gtest.h>

#include "tests/host/io/temporary_folder.h"

namespace cutpoint::tests {
namespace {

constexpr std::string_view version_one_mount =
    "30 23 0:26 / /proc rw - proc proc rw\n"
    "33 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "34 31 0:30 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n";
constexpr std::string_view version_two_mount = "29 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n";

class cpu_quota : public testing::Test {
 protected:
  /// Makes the files of /proc.
  void describe_process(std::string_view groups, std::string_view mounts) const {
    root_.make_file("proc/self/cgroup", groups);
    root_.make_file("proc/self/mountinfo", mounts);
  }
  void limit_version_one(const std::string& group, std::string_view quota) const {
    const std::string folder = "sys/fs/cgroup/cpu,cpuacct" + group;
    root_.make_file(folder + "/cpu.cfs_quota_us", quota);
    root_.make_file(folder + "/cpu.cfs_period_us", "100000\n");
  }
  [[nodiscard]] std::optional<double> quota() const { return read_cpu_quota(root_.path()); }

  const temporary_folder root_;
};

TEST_F(cpu_quota, is_read_in_version_one) {
  describe_process("4:cpuset:/other\n3:cpu,cpuacct:/docker/abc\n0::/\n", version_one_mount);
  EXPECT_EQ(quota(), std::nullopt);
  limit_version_one("/docker/abc", "-1\n");
  EXPECT_EQ(quota(), std::nullopt);
  limit_version_one("/docker/abc", "50000\n");
  EXPECT_EQ(quota(), 0.5);
}

TEST_F(cpu_quota, is_read_in_version_two) {
  describe_process("0::/user.slice/my job\n", version_two_mount);
  EXPECT_EQ(quota(), std::nullopt);
  root_.make_file("sys/fs/cgroup/user.slice/my job/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), std::nullopt);
  root_.make_file("sys/fs/cgroup/user.slice/my job/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(cpu_quota, is_the_least_of_the_groups_above) {
  describe_process("0::/a/b/c\n", version_two_mount);
  root_.make_file("sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n");
  root_.make_file("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  root_.make_file("sys/fs/cgroup/a/cpu.max", "25000 10000\n");
  EXPECT_EQ(quota(), 2.5);
  root_.make_file("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2);
}

TEST_F(cpu_quota, is_the_least_of_both_versions) {
  describe_process("3:cpu,cpuacct:/one\n0::/two\n",
                   std::string(version_one_mount) + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  limit_version_one("/one", "300000\n");
  EXPECT_EQ(quota(), 3);
  root_.make_file("sys/fs/cgroup/unified/two/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2);
}

TEST_F(cpu_quota, is_read_where_only_the_own_group_is_mounted) {
  describe_process("3:cpu,cpuacct:/docker/abc/inner\n",
                   "33 31 0:29 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n");
  limit_version_one("", "200000\n");
  EXPECT_EQ(quota(), 2);
  limit_version_one("/inner", "100000\n");
  EXPECT_EQ(quota(), 1);
}

TEST_F(cpu_quota, is_that_of_the_mount_where_the_own_group_is_not_visible) {
  root_.make_file("sys/fs/cgroup/cpu.max", "70000 100000\n");
  describe_process("0::/../elsewhere\n", version_two_mount);
  EXPECT_EQ(quota(), 0.7);
  describe_process("0::/elsewhere\n", "29 23 0:26 /pod /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(quota(), 0.7);
}

TEST_F(cpu_quota, is_read_from_a_mount_point_with_a_space) {
  describe_process("0::/\n", "29 23 0:26 / /sys/my\\040groups rw - cgroup2 cgroup2 rw\n");
  root_.make_file("sys/my groups/cpu.max", "100000 100000\n");
  EXPECT_EQ(quota(), 1);
}

TEST_F(cpu_quota, is_unknown_without_control_groups_and_with_malformed_files) {
  EXPECT_EQ(quota(), std::nullopt);
  describe_process("0::/\nnonsense\n3:cpu", "29 23 - cgroup2\n\n-\n29 23 0:26 / /sys rw - cgroup2\n");
  EXPECT_EQ(quota(), std::nullopt);
  describe_process("0::/\n", version_two_mount);
  for (const std::string_view content : {"", "nonsense\n", "-1 100000\n", "100000\n", "100000 0\n"}) {
    root_.make_file("sys/fs/cgroup/cpu.max", content);
    EXPECT_EQ(quota(), std::nullopt) << content;
  }
}

TEST(usable_processors, are_rounded_up_and_at_least_one) {
  EXPECT_EQ(usable_processors(8, std::nullopt), 8u);
  EXPECT_EQ(usable_processors(8, 0.001), 1u);
  EXPECT_EQ(usable_processors(8, 0.5), 1u);
  EXPECT_EQ(usable_processors(8, 1), 1u);
  EXPECT_EQ(usable_processors(8, 1.1), 2u);
  EXPECT_EQ(usable_processors(8, 8), 8u);
  EXPECT_EQ(usable_processors(8, 1e30), 8u);
}

}  // namespace
}  // namespace cutpoint::tests
