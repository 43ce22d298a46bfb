// Facts about the machine beside its topology: the processors that a control group allows, and the memory node of a PCI device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cutpoint {

/// Returns the processor time that the control groups of this process grant it, in processors (0.5 is half a second in
/// each second), or nullopt if they set no limit. It is the least of the limits of its own group and of all groups
/// above that are visible, of version 1 (cpu.cfs_quota_us) and version 2 (cpu.max). `root` is the folder that holds
/// /proc and the mounts: an empty string, or a made tree in tests.
[[nodiscard]] std::optional<double> read_cpu_quota(const std::string& root = "");

/// Returns how many of `count` processors a quota keeps busy: it is rounded up, and the result is at least 1.
[[nodiscard]] std::uint64_t usable_processors(std::uint64_t count, std::optional<double> quota);

/// Returns the number of the memory node that the PCI device with this bus id, such as "0000:17:00.0", is attached to, or
/// -1 if it is unknown. The first call examines the machine, in some tens of milliseconds. Thread-safe. Throws
/// std::bad_alloc.
[[nodiscard]] int node_of_pci_device(const std::string& bus_id);

}  // namespace cutpoint
