// The instruction sets for which kernels are compiled, and those that this machine supports.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace cutpoint::simd {

/// Instruction sets. The numbers index a `kernel_table`.
enum class instruction_set : std::size_t {
  sha_ni,     ///< the SHA extensions of x86, with SSE4.2
  sse4,       ///< SSE4.2 with AES and PCLMULQDQ
  avx2,       ///< AVX2 with FMA, F16C, BMI and BMI2
  avx512,     ///< AVX-512 F, BW, CD, DQ and VL
  avx512_dl,  ///< also VBMI and GFNI (Ice Lake, Zen 4)
  neon,       ///< AArch64
};
inline constexpr std::array<instruction_set, 6> instruction_sets = {instruction_set::sha_ni,    instruction_set::sse4,
                                                                    instruction_set::avx2,      instruction_set::avx512,
                                                                    instruction_set::avx512_dl, instruction_set::neon};

[[nodiscard]] std::string_view to_string(instruction_set set) noexcept;

/// Returns whether this build contains kernels for `set`. Only some kernels are compiled for `sha_ni` and `avx512_dl`.
[[nodiscard]] bool is_compiled(instruction_set set) noexcept;

/// Returns whether this processor and its operating system support `set`.
[[nodiscard]] bool runs_here(instruction_set set) noexcept;

/// Returns whether this processor has VAES and VPCLMULQDQ, which process vectors of AES blocks. All processors with
/// `avx512_dl` have them, and some with `avx2` (Zen 3, Alder Lake).
[[nodiscard]] bool has_vaes() noexcept;

/// Returns whether this AArch64 has instructions for AES and the carry-less product of 64 bits. Small ones lack them.
[[nodiscard]] bool has_neon_aes() noexcept;

/// One function for each instruction set; null if it was not compiled.
template <class Function>
using kernel_table = std::array<Function, instruction_sets.size()>;

}  // namespace cutpoint::simd
