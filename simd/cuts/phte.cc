// The kernels of `toeplitz-aes`, `rabin-aes` and `toeplitz128-aes`, for processors with instructions for AES.
#include "host/algorithms/phte.h"

#include "simd/cuts/kernels.h"
#include "simd/cuts/phte_search.h"

namespace cutpoint::simd {

namespace {

phte_block block_of(const phte_block& words) { return words; }
phte_block block_of(const std::array<std::uint64_t, 1>& word) { return {word[0], 0}; }
phte_block block_of(std::uint64_t word) { return {word, 0}; }

/// Returns what a step makes of a block, without the entering and the leaving byte.
template <std::size_t words>
phte_block stepped(const toeplitz_hash<words>&, const phte_block& block) {
  constexpr std::uint64_t modulus = toeplitz_hash<words>::modulus;
  return {gf2_degree64::times_x(block[0], modulus), gf2_degree64::times_x(block[1], modulus)};
}
phte_block stepped(const rabin64_hash& hash, const phte_block& block) {
  return {block[0] << 8 ^ hash.reduction[block[0] >> 56], block[1] << 8};
}

/// Returns x^72 divided by x^64 + `modulus`, without remainder.
std::uint64_t quotient_of_x72(std::uint64_t modulus) {
  std::uint64_t quotient = 0;
  std::uint64_t rest = 1 << 8;  // its coefficients from x^64 on
  for (int k = 8; k >= 0; --k) {
    if ((rest >> k & 1) == 0) continue;
    quotient |= std::uint64_t{1} << k;
    if (k != 0) rest ^= modulus >> (64 - k);
  }
  return quotient;
}

template <class Hash>
std::shared_ptr<const phte_tables> tables_of(const phte_secrets<Hash>& secrets) {
  const auto tables = make_secret<phte_tables>();
  for (std::size_t round = 0; round < tables->round_keys.size(); ++round) {
    const aes128::block& key = secrets.cipher.round_keys[round];
    tables->round_keys[round] = {key[0] | std::uint64_t{key[1]} << 32, key[2] | std::uint64_t{key[3]} << 32};
  }
  const phte_block& whitening = tables->round_keys[0];
  const phte_block next = stepped(secrets.hash, whitening);
  for (std::size_t byte = 0; byte < tables->blocks.entering.size(); ++byte) {
    const auto value = static_cast<std::uint8_t>(byte);
    const phte_block entering = block_of(secrets.hash.absorb({}, value));
    tables->blocks.entering[byte] = {entering[0] ^ next[0] ^ whitening[0], entering[1] ^ next[1] ^ whitening[1]};
    tables->blocks.leaving[byte] = block_of(secrets.hash.leaving[byte]);
    tables->words.entering[byte] = tables->blocks.entering[byte][0];
    tables->words.leaving[byte] = tables->blocks.leaving[byte][0];
  }
  if constexpr (std::is_same_v<Hash, rabin64_hash>) {
    tables->modulus = secrets.hash.modulus;
    tables->quotient = quotient_of_x72(secrets.hash.modulus);
    for (std::size_t i = 0; i < tables->low_reductions.size(); ++i) {
      tables->low_reductions[i] = secrets.hash.reduction[i];
      tables->high_reductions[i] = secrets.hash.reduction[i << 4];
    }
  }
  return tables;
}

class phte_kernel final : public instruction_set_kernel {
 public:
  phte_kernel(instruction_set set, std::shared_ptr<const phte_tables> tables, const normalized_rule& rule,
              phte_search search)
      : instruction_set_kernel(set), tables_(std::move(tables)), rule_(rule), search_(search) {}

  std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept override {
    const std::uint8_t* const b = bytes.data() + start;
    const std::uint64_t end = std::min<std::uint64_t>(rule_.max_bytes, bytes.size() - start);
    const std::uint64_t strict_end = std::max(rule_.min_bytes, rule_.strict_range_end(end));
    std::uint64_t match = search_(*tables_, b, rule_.min_bytes, strict_end, rule_.strict_mask);
    if (match == unlimited) match = search_(*tables_, b, strict_end, end, rule_.loose_mask);
    return rule_.length_for(match, end);
  }

 private:
  std::shared_ptr<const phte_tables> tables_;
  normalized_rule rule_;
  phte_search search_;
};

/// Returns the searches for an instruction set, or null ones.
phte_searches searches_for(instruction_set set) {
  switch (set) {
    case instruction_set::sse4:
      return phte_searches_by_aes_ni();
    case instruction_set::avx2:
    case instruction_set::avx512:
      return has_vaes() ? phte_searches_by_vaes256() : phte_searches_by_aes_ni();
    case instruction_set::avx512_dl:
      return has_vaes() ? phte_searches_by_vaes512() : phte_searches();
    case instruction_set::neon:
      return has_neon_aes() ? phte_searches_by_neon() : phte_searches();
    default:
      return {};
  }
}

template <phte_hash Hash>
kernel_pointer make_phte(const phte_parameters<Hash>& filled, instruction_set set) {
  const phte_searches searches = searches_for(set);
  const phte_search search = Hash == phte_hash::toeplitz      ? searches.toeplitz
                             : Hash == phte_hash::toeplitz128 ? searches.toeplitz128
                                                              : searches.rabin;
  if (search == nullptr) return nullptr;
  return std::make_shared<phte_kernel>(set, tables_of(*secrets_of(filled)), rule_of(filled), search);
}

}  // namespace

kernel_pointer make_kernel(const toeplitz_aes_parameters& filled, instruction_set set) {
  return make_phte(filled, set);
}
kernel_pointer make_kernel(const rabin_aes_parameters& filled, instruction_set set) { return make_phte(filled, set); }
kernel_pointer make_kernel(const toeplitz128_aes_parameters& filled, instruction_set set) {
  return make_phte(filled, set);
}

}  // namespace cutpoint::simd
