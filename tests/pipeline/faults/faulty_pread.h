// A faulty `pread`, which all code of a program calls that is linked with this file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "tests/host/io/simulated_reads.h"
#include "tests/host/support/choices.h"

namespace cutpoint::tests {

/// While an object of this class exists, `pread` fails as the object says. There may be one at a time, in programs in
/// which one thread reads at a time. It allocates no memory after its construction.
class faulty_pread {
 public:
  /// Each member of `faults` is the mean number of calls for one such fault; 0 means never. Members that concern only a
  /// queue are ignored.
  faulty_pread(std::uint64_t seed, const read_faults& faults);
  ~faulty_pread();
  faulty_pread(const faulty_pread&) = delete;
  faulty_pread& operator=(const faulty_pread&) = delete;

  /// Makes every read at or after `offset` of the file fail. This can be called for at most eight files.
  void break_from(const std::string& path, std::uint64_t offset);

  /// Returns how often each fault has happened, without the reads past an offset of `break_from`.
  [[nodiscard]] const read_faults& happened() const { return faults_.happened(); }
  /// Returns how many reads began past such an offset.
  [[nodiscard]] std::uint64_t past_break_count() const { return past_break_count_; }

  /// Does the work of `pread`.
  std::int64_t read(int descriptor, void* destination, std::size_t size, std::int64_t offset);

 private:
  struct broken_file {
    std::uint64_t inode;
    std::uint64_t begin;
  };

  [[nodiscard]] std::optional<std::uint64_t> broken_from(int descriptor) const;

  drawn_faults faults_;
  std::array<broken_file, 8> broken_ = {};
  std::size_t broken_count_ = 0;
  std::uint64_t past_break_count_ = 0;
};

}  // namespace cutpoint::tests
