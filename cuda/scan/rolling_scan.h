// The scan that marks the candidates of rolling hashes in a packed buffer, and the specification of a rolling hash.
//
// Position p is a candidate of a level if that level's test accepts the hash of the window that ends with byte p.
// Bytes before the buffer count as zeros, and bits past its end are zero.
#pragma once

#include <vector>

#include "cuda/cut/specification.h"
#include "cuda/scan/rolling_scan_direct.h"
#include "cuda/scan/rolling_scan_staged.h"

namespace cutpoint::cuda {

/// The kernel of the scan. It writes every word of every level.
template <class Hash, class Test, std::uint32_t Levels, rolling_tuning Tuning = rolling_tuning{}>
struct rolling_scan {
  static constexpr std::uint32_t threads_per_block = Tuning.threads_per_block;
  /// As many as shared memory has room for. Without the bound ptxas uses more registers (`gear`: 70, so that three fit too; its
  /// loop has a tenth more instructions with that bound).
  static constexpr std::uint32_t resident_blocks = Hash::tables > 1 || (Hash::forgets && Levels == 1) ? 2 : 3;
  packed_bytes in;
  const std::uint64_t* table = nullptr;  ///< Hash::tables × 256 entries
  rolling_rule<Hash, Test, Levels> rule = {};

  [[nodiscard]] std::size_t shared_bytes(std::uint32_t threads) const {
    using namespace rolling_detail;
    return shared_size<typename Hash::entry>(table_size<Hash>) + (is_staged() ? staged_bytes(Tuning, threads) : 0);
  }
  [[nodiscard]] std::uint64_t blocks(std::uint32_t threads) const {
    const std::uint64_t tile = threads * (is_staged() ? Tuning.run_bytes : long_run_bytes(rule.hash.window));
    return (in.byte_count + tile - 1) / tile;
  }

  /// The same scan for a device whose blocks have too little shared memory for this one.
  [[nodiscard]] auto for_small_blocks() const requires(Hash::tables > 1 && Tuning == rolling_tuning{}) {
    return rolling_scan<Hash, Test, Levels, small_block_tuning>{in, table, rule};
  }

  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    const auto entries = rolling_detail::shared_tables<Hash>(block, table);
    const packed_bytes used = in.without_unused();
    if constexpr (Hash::forgets) {  // NOLINT(bugprone-branch-clone)
      scan_staged<64, Tuning>(block, used, rule, entries);
    } else if (rule.hash.window == 32) {
      scan_staged<32, Tuning>(block, used, rule, entries);
    } else if (rule.hash.window == 48) {
      scan_staged<48, Tuning>(block, used, rule, entries);
    } else if (rule.hash.window == 64) {
      scan_staged<64, Tuning>(block, used, rule, entries);
    } else {
      scan_direct(block, used, rule, entries);
    }
  }

 private:
  [[nodiscard]] bool is_staged() const {
    const std::uint32_t window = rule.hash.window;
    return Hash::forgets || window == 32 || window == 48 || window == 64;
  }
};

/// The specification of a rolling hash with a `CutFinder` of plain values.
template <class Hash, class Test, std::uint32_t Levels, class CutFinder>
struct rolling_specification {
  static constexpr std::uint32_t levels = Levels;
  std::vector<std::uint64_t> table;
  chunk_estimates sizes = {};
  rolling_rule<Hash, Test, Levels> rule = {};
  CutFinder chunks = {};

  [[nodiscard]] rolling_scan<Hash, Test, Levels> scan(const packed_bytes& in, const std::uint64_t* table_there) const {
    return {in, table_there, rule};
  }
  [[nodiscard]] CutFinder cut_finder(const std::uint64_t*) const { return chunks; }
};

}  // namespace cutpoint::cuda
