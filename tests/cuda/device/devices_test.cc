// Tests what the back end says about the machine: each reason why CUDA cannot be used has its own sentence.
#include "cuda/device/devices.h"

#include <gtest/gtest.h>

namespace cutpoint::cuda {
namespace {

std::string sentence(const driver_probe& probe) {
  const status judged = check_driver(probe);
  EXPECT_EQ(judged.code(), status_code::unavailable);
  return judged.message();
}

TEST(check_driver, names_each_reason_for_no_cuda) {
  const version runtime{13, 0};
  EXPECT_EQ(
      no_cuda_in_this_build().message(),
      "this build has no CUDA code: install one that was made with a CUDA compiler, as scripts/setup --cuda and then "
      "scripts/package make it in a checkout");
  EXPECT_EQ(sentence({.driver = {}, .runtime = runtime}),
            "no NVIDIA driver was found: install one for CUDA 13.0 or newer, or start the container with the GPUs of "
            "its host");
  EXPECT_EQ(sentence({.driver = {12, 8}, .runtime = runtime}),
            "the NVIDIA driver supports CUDA 12.8, but this build needs CUDA 13.0 or newer");
  EXPECT_EQ(sentence({.driver = {13, 1}, .runtime = runtime}),
            "the NVIDIA driver shows this process no device: CUDA_VISIBLE_DEVICES or a container can hide them");
  EXPECT_EQ(sentence({.driver = {13, 0}, .runtime = runtime, .error = "system not yet initialized"}),
            "the NVIDIA driver could not list its devices: system not yet initialized");
}

TEST(check_driver, accepts_any_driver_of_the_same_major_version_or_later) {
  for (const version driver : {version{13, 0}, version{13, 4}, version{14, 0}}) {
    EXPECT_TRUE(check_driver({.driver = driver, .runtime = {13, 2}, .device_count = 1}).ok()) << to_string(driver);
  }
}

TEST(check_driver, refuses_devices_older_than_the_code) {
  EXPECT_EQ(reason_device_is_unsupported("NVIDIA A100", decode_cuda_version(8000), {9, 0}),
            "NVIDIA A100 has compute capability 8.0, but this build has code for 9.0 and newer only");
  EXPECT_EQ(reason_device_is_unsupported("NVIDIA H200", {9, 0}, {9, 0}), "");
  EXPECT_EQ(reason_device_is_unsupported("NVIDIA B200", {10, 0}, {9, 0}), "");
  EXPECT_EQ(decode_cuda_version(12080), (version{12, 8}));
}

TEST(devices, are_listed_or_their_absence_is_explained) {
  const auto all = devices();
  if (!all) {
    EXPECT_EQ(all.error().code(), status_code::unavailable);
    EXPECT_FALSE(all.error().message().empty());
    return;
  }
  ASSERT_FALSE(all->empty());
  for (const device_info& each : *all) {
    EXPECT_FALSE(each.name.empty());
    EXPECT_GT(each.memory_bytes, 0u);
    EXPECT_GT(each.multiprocessor_count, 0);
    EXPECT_FALSE(each.pci_bus_id.empty());
  }
}

TEST(pci_link, is_read_from_sysfs) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "cutpoint_pci_link_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "max_link_speed") << "32.0 GT/s PCIe\n";
  std::ofstream(folder / "current_link_width") << "16\n";
  EXPECT_EQ(read_pci_link(folder), (pci_link{5, 16}));
  std::ofstream(folder / "max_link_speed") << "Unknown\n";
  std::ofstream(folder / "current_link_width") << "255\n";
  EXPECT_EQ(read_pci_link(folder), pci_link{});
  std::filesystem::remove_all(folder);
  EXPECT_EQ(read_pci_link(folder), pci_link{});
}

}  // namespace
}  // namespace cutpoint::cuda
