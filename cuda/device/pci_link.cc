// Reads max_link_speed ("32.0 GT/s PCIe") and current_link_width ("16") of a PCI device.
#include "cuda/device/pci_link.h"

#include <array>
#include <fstream>

namespace cutpoint::cuda {
namespace {

double read_number(const std::filesystem::path& file) {
  std::ifstream in(file);
  double number = 0;
  return in >> number ? number : 0;
}

}  // namespace

pci_link read_pci_link(const std::filesystem::path& device_folder) {
  constexpr std::array gigatransfers_per_second{2.5, 5.0, 8.0, 16.0, 32.0, 64.0};  // generations 1 to 6
  const double speed = read_number(device_folder / "max_link_speed");
  pci_link link;
  for (const double generation_speed : gigatransfers_per_second) link.generation += speed >= generation_speed ? 1 : 0;
  const double width = read_number(device_folder / "current_link_width");
  if (width >= 1 && width <= 32) link.width = static_cast<int>(width);
  return link;
}

}  // namespace cutpoint::cuda
