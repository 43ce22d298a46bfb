// A pread that fails: in a program that is linked with this, every one that library code calls.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "tests/host/io/simulated_reads.h"
#include "tests/host/support/choices.h"

namespace cutpoint::tests {

/// While there is one, `pread` fails as it says. One at a time, in programs of which one thread reads at a time. Once made
/// it allocates nothing.
class faulty_pread {
 public:
  /// Once in so many calls; those that only a queue has never happen.
  faulty_pread(std::uint64_t seed, const read_faults& faults);
  ~faulty_pread();
  faulty_pread(const faulty_pread&) = delete;
  faulty_pread& operator=(const faulty_pread&) = delete;

  /// From now on no byte of the file from `offset` on can be read, ever; of eight files at most.
  void break_from(const std::string& path, std::uint64_t offset);

  /// How many times each fault has happened, but for reads past an offset of `break_from`.
  [[nodiscard]] const read_faults& happened() const { return faults_.happened(); }
  /// How many reads began past such an offset.
  [[nodiscard]] std::uint64_t past_break_count() const { return past_break_count_; }

  /// What `pread` calls.
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
