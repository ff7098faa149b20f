#include "core/base/bits.hpp"

#include <bit>

#if defined(__x86_64__) && defined(__GNUC__)
#define BAYESMEND_X86 1
#include <immintrin.h>
#endif

namespace bayesmend {
namespace {

std::uint64_t count_both_portable(const std::uint64_t* a, const std::uint64_t* b,
                                  std::size_t n_words) {
  std::uint64_t total = 0;
  for (std::size_t w = 0; w < n_words; ++w)
    total += static_cast<std::uint64_t>(std::popcount(a[w] & b[w]));
  return total;
}

std::uint64_t intersect_portable(const std::uint64_t* a, const std::uint64_t* b,
                                 std::uint64_t* target, std::size_t n_words) {
  std::uint64_t total = 0;
  for (std::size_t w = 0; w < n_words; ++w) {
    target[w] = a[w] & b[w];
    total += static_cast<std::uint64_t>(std::popcount(target[w]));
  }
  return total;
}

#ifdef BAYESMEND_X86

__attribute__((target("popcnt"))) std::uint64_t count_both_popcnt(const std::uint64_t* a,
                                                                  const std::uint64_t* b,
                                                                  std::size_t n_words) {
  std::uint64_t even = 0, odd = 0;
  std::size_t w = 0;
  for (; w + 2 <= n_words; w += 2) {
    even += static_cast<std::uint64_t>(__builtin_popcountll(a[w] & b[w]));
    odd += static_cast<std::uint64_t>(__builtin_popcountll(a[w + 1] & b[w + 1]));
  }
  if (w < n_words) even += static_cast<std::uint64_t>(__builtin_popcountll(a[w] & b[w]));
  return even + odd;
}

__attribute__((target("popcnt"))) std::uint64_t intersect_popcnt(const std::uint64_t* a,
                                                                 const std::uint64_t* b,
                                                                 std::uint64_t* target,
                                                                 std::size_t n_words) {
  std::uint64_t total = 0;
  for (std::size_t w = 0; w < n_words; ++w) {
    target[w] = a[w] & b[w];
    total += static_cast<std::uint64_t>(__builtin_popcountll(target[w]));
  }
  return total;
}

// Bytes are counted by looking up both halves of each in a register.
__attribute__((target("avx2"))) inline __m256i byte_counts_avx2(__m256i v) {
  const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2,
                                         1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i low_mask = _mm256_set1_epi8(0x0f);
  const __m256i low = _mm256_and_si256(v, low_mask);
  const __m256i high = _mm256_and_si256(_mm256_srli_epi16(v, 4), low_mask);
  const __m256i bytes =
      _mm256_add_epi8(_mm256_shuffle_epi8(table, low), _mm256_shuffle_epi8(table, high));
  return _mm256_sad_epu8(bytes, _mm256_setzero_si256());
}

__attribute__((target("avx2"))) inline std::uint64_t sum_avx2(__m256i v) {
  const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(half)) +
         static_cast<std::uint64_t>(_mm_extract_epi64(half, 1));
}

__attribute__((target("avx2,popcnt"))) std::uint64_t count_both_avx2(const std::uint64_t* a,
                                                                     const std::uint64_t* b,
                                                                     std::size_t n_words) {
  __m256i total = _mm256_setzero_si256();
  std::size_t w = 0;
  for (; w + 4 <= n_words; w += 4) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + w));
    const __m256i y = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + w));
    total = _mm256_add_epi64(total, byte_counts_avx2(_mm256_and_si256(x, y)));
  }
  std::uint64_t rest = 0;
  for (; w < n_words; ++w) rest += static_cast<std::uint64_t>(__builtin_popcountll(a[w] & b[w]));
  return sum_avx2(total) + rest;
}

__attribute__((target("avx2,popcnt"))) std::uint64_t intersect_avx2(const std::uint64_t* a,
                                                                    const std::uint64_t* b,
                                                                    std::uint64_t* target,
                                                                    std::size_t n_words) {
  __m256i total = _mm256_setzero_si256();
  std::size_t w = 0;
  for (; w + 4 <= n_words; w += 4) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + w));
    const __m256i y = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + w));
    const __m256i both = _mm256_and_si256(x, y);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(target + w), both);
    total = _mm256_add_epi64(total, byte_counts_avx2(both));
  }
  std::uint64_t rest = 0;
  for (; w < n_words; ++w) {
    target[w] = a[w] & b[w];
    rest += static_cast<std::uint64_t>(__builtin_popcountll(target[w]));
  }
  return sum_avx2(total) + rest;
}

#define BAYESMEND_AVX512 __attribute__((target("avx512f,avx512vpopcntdq,popcnt")))

BAYESMEND_AVX512 inline std::uint64_t sum_avx512(__m512i v) {
  alignas(64) std::uint64_t lanes[8];
  _mm512_store_si512(lanes, v);
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
         ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

BAYESMEND_AVX512 std::uint64_t count_both_avx512(const std::uint64_t* a, const std::uint64_t* b,
                                                 std::size_t n_words) {
  __m512i total = _mm512_setzero_si512();
  std::size_t w = 0;
  for (; w + 8 <= n_words; w += 8) {
    const __m512i both = _mm512_and_si512(_mm512_loadu_si512(a + w), _mm512_loadu_si512(b + w));
    total = _mm512_add_epi64(total, _mm512_popcnt_epi64(both));
  }
  if (w < n_words) {
    const auto mask = static_cast<__mmask8>((1u << (n_words - w)) - 1u);
    const __m512i both = _mm512_and_si512(_mm512_maskz_loadu_epi64(mask, a + w),
                                          _mm512_maskz_loadu_epi64(mask, b + w));
    total = _mm512_add_epi64(total, _mm512_popcnt_epi64(both));
  }
  return sum_avx512(total);
}

BAYESMEND_AVX512 std::uint64_t intersect_avx512(const std::uint64_t* a, const std::uint64_t* b,
                                                std::uint64_t* target, std::size_t n_words) {
  __m512i total = _mm512_setzero_si512();
  std::size_t w = 0;
  for (; w + 8 <= n_words; w += 8) {
    const __m512i both = _mm512_and_si512(_mm512_loadu_si512(a + w), _mm512_loadu_si512(b + w));
    _mm512_storeu_si512(target + w, both);
    total = _mm512_add_epi64(total, _mm512_popcnt_epi64(both));
  }
  if (w < n_words) {
    const auto mask = static_cast<__mmask8>((1u << (n_words - w)) - 1u);
    const __m512i both = _mm512_and_si512(_mm512_maskz_loadu_epi64(mask, a + w),
                                          _mm512_maskz_loadu_epi64(mask, b + w));
    _mm512_mask_storeu_epi64(target + w, mask, both);
    total = _mm512_add_epi64(total, _mm512_popcnt_epi64(both));
  }
  return sum_avx512(total);
}

#endif

BitKernels choose_kernels() {
#ifdef BAYESMEND_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vpopcntdq"))
    return {"avx512", count_both_avx512, intersect_avx512, 384};
  if (__builtin_cpu_supports("avx2")) return {"avx2", count_both_avx2, intersect_avx2, 96};
  if (__builtin_cpu_supports("popcnt")) return {"popcnt", count_both_popcnt, intersect_popcnt, 48};
#endif
  return {"portable", count_both_portable, intersect_portable, 24};
}

}  // namespace

const BitKernels& bit_kernels() {
  static const BitKernels kernels = choose_kernels();
  return kernels;
}

}  // namespace bayesmend
