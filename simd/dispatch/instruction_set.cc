#include "simd/dispatch/instruction_set.h"

#include <hwy/detect_targets.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace cutpoint::simd {

namespace {

#if defined(__x86_64__)
struct cpuid_registers {
  unsigned int eax = 0;
  unsigned int ebx = 0;
  unsigned int ecx = 0;
  unsigned int edx = 0;
};

/// Returns what CPUID says of a leaf; zeros if the processor lacks it.
cpuid_registers cpuid(unsigned int leaf) noexcept {
  cpuid_registers said;
  return __get_cpuid_count(leaf, 0, &said.eax, &said.ebx, &said.ecx, &said.edx) != 0 ? said : cpuid_registers();
}

// __builtin_cpu_supports of clang does not know F16C, and that of GCC 12 does not know the SHA extensions.
bool has_f16c() noexcept { return (cpuid(1).ecx & bit_F16C) != 0; }
bool has_sha() noexcept { return (cpuid(7).ebx & bit_SHA) != 0; }
#endif

/// Tells for each instruction set whether the processor has all features that Highway lets the compiler use for it.
kernel_table<bool> running_sets() noexcept {
#if defined(__x86_64__)
  const bool sse4 =
      __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
  const bool avx2 = sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && has_f16c();
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  const bool avx512_dl = avx512 && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("gfni");
  return {sse4 && has_sha(), sse4, avx2, avx512, avx512_dl, false};
#elif defined(__aarch64__)
  return {false, false, false, false, false, true};
#else
  return {};
#endif
}

}  // namespace

std::string_view to_string(instruction_set set) noexcept {
  constexpr kernel_table<std::string_view> names = {"sha-ni", "sse4", "avx2", "avx512", "avx512-dl", "neon"};
  return names[static_cast<std::size_t>(set)];
}

static_assert((HWY_TARGETS & ~(HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_NEON | HWY_EMU128 | HWY_SCALAR)) == 0,
              "kernels are compiled for a target of Highway that no kernel_table has");

bool is_compiled(instruction_set set) noexcept {
  constexpr bool sse4 = (HWY_TARGETS & HWY_SSE4) != 0;
  constexpr bool avx512 = (HWY_TARGETS & HWY_AVX3) != 0;
  constexpr kernel_table<bool> compiled = {sse4,   sse4,   (HWY_TARGETS & HWY_AVX2) != 0,
                                           avx512, avx512, (HWY_TARGETS & HWY_NEON) != 0};
  return compiled[static_cast<std::size_t>(set)];
}

bool runs_here(instruction_set set) noexcept {
  // Computed once: under a hypervisor, CPUID takes as long as reading 100 KiB.
  static const kernel_table<bool> running = running_sets();
  return running[static_cast<std::size_t>(set)];
}

bool has_vaes() noexcept {
#if defined(__x86_64__)
  static const bool is_there = runs_here(instruction_set::avx2) && (~cpuid(7).ecx & (bit_VAES | bit_VPCLMULQDQ)) == 0;
  return is_there;
#else
  return false;
#endif
}

bool has_neon_aes() noexcept {
#if defined(__aarch64__)
  constexpr unsigned long needed = HWCAP_AES | HWCAP_PMULL;
  return (::getauxval(AT_HWCAP) & needed) == needed;
#else
  return false;
#endif
}

}  // namespace cutpoint::simd
