// Bounds checks and wrapping of contiguous indices in blocks. Only for files compiled per instruction set: see lines.cpp.
#pragma once

#include <stdint.h>

#include "lines.hpp"

#if OV_GATHER_HAS_AVX
#include <immintrin.h>
#endif

namespace ov_gather {
namespace {

// Wrap negative indices, for an axis of any size. Return false if an index is out of bounds.
template <typename Index>
OV_GATHER_APART bool wrap(const Index* indices, int64_t count, int64_t axis_size, int64_t* wrapped) {
    bool in_bounds = true;
    for (int64_t i = 0; i < count; ++i) {
        int64_t index = read_once<Index>(indices + i);
        in_bounds &= wrap_index(index, axis_size);
        wrapped[i] = index;
    }
    return in_bounds;
}

#if OV_GATHER_HAS_AVX
// Wrap whole vectors of int64 indices, as below, and return how many. GCC's code for the loop below is three times as slow.
inline int64_t wrap_vectors(const int64_t* indices, int64_t count, int32_t size, int32_t* wrapped, uint32_t& out_of_bounds) {
    int64_t i = 0;
#if defined(__AVX2__)
    const __m256i sizes = _mm256_set1_epi32(size), lasts = _mm256_set1_epi32(size - 1);
    __m256i bad = _mm256_setzero_si256();
    for (; i + 8 <= count; i += 8) {
        const auto* from = reinterpret_cast<const float*>(indices + i);
        const __m256 first = _mm256_loadu_ps(from), second = _mm256_loadu_ps(from + 8);
        const __m256i low = _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0x88));
        const __m256i high = _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0xdd));
        const __m256i sign = _mm256_srai_epi32(low, 31);
        const __m256i index = _mm256_add_epi32(low, _mm256_and_si256(sign, sizes));
        const __m256i clamped = _mm256_min_epu32(index, lasts);
        bad = _mm256_or_si256(bad, _mm256_xor_si256(high, sign));  // set if an index exceeds 32 bits
        bad = _mm256_or_si256(bad, _mm256_xor_si256(clamped, index));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(wrapped + i), _mm256_permute4x64_epi64(clamped, 0xd8));
    }
    out_of_bounds |= !_mm256_testz_si256(bad, bad);
#else
    // Comparisons are signed: `least` is the lowest number, and an index in bounds, added to it, remains below `end`.
    const __m128i sizes = _mm_set1_epi32(size), least = _mm_set1_epi32(INT32_MIN), end = _mm_xor_si128(sizes, least);
    __m128i bad = _mm_setzero_si128(), good = _mm_set1_epi32(-1);
    for (; i + 4 <= count; i += 4) {
        const auto* from = reinterpret_cast<const float*>(indices + i);
        const __m128 first = _mm_loadu_ps(from), second = _mm_loadu_ps(from + 4);
        const __m128i low = _mm_castps_si128(_mm_shuffle_ps(first, second, 0x88));
        const __m128i high = _mm_castps_si128(_mm_shuffle_ps(first, second, 0xdd));
        const __m128i sign = _mm_srai_epi32(low, 31);
        const __m128i index = in_register(_mm_add_epi32(low, _mm_and_si128(sign, sizes)));  // checked and used
        const __m128i fits = _mm_cmplt_epi32(_mm_xor_si128(index, least), end);
        bad = _mm_or_si128(bad, _mm_xor_si128(high, sign));  // set if an index exceeds 32 bits
        good = _mm_and_si128(good, fits);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(wrapped + i), _mm_and_si128(index, fits));
    }
    out_of_bounds |=
        _mm_movemask_epi8(_mm_cmpeq_epi32(bad, _mm_setzero_si128())) != 0xFFFF || _mm_movemask_epi8(good) != 0xFFFF;
#endif
    return i;
}
#endif

// Wrap negative indices for an axis below 2^31, narrowed to 32 bits: half the memory, twice the elements per vector register,
// and no branches. Stored indices are clamped: they stay in bounds even if the compiler reads an index twice while another
// thread changes it. Return false if an index is out of bounds.
template <typename Index>
OV_GATHER_APART bool wrap(const Index* indices, int64_t count, int64_t axis_size, int32_t* wrapped) {
    const int32_t size = static_cast<int32_t>(axis_size);
    const uint32_t last = static_cast<uint32_t>(size) - 1;
    uint32_t out_of_bounds = size == 0;
    int64_t i = 0;
#if OV_GATHER_HAS_AVX
    if constexpr (sizeof(Index) == 8) i = wrap_vectors(indices, count, size, wrapped, out_of_bounds);
#endif
    for (; i < count; ++i) {
        const Index given = indices[i];
        const int32_t low = static_cast<int32_t>(given);
        const uint32_t index = static_cast<uint32_t>(low + ((low >> 31) & size));
        const uint32_t clamped = index < last ? index : last;
        wrapped[i] = static_cast<int32_t>(clamped);
        out_of_bounds |= static_cast<uint32_t>(low != given) | (clamped ^ index);
    }
    return out_of_bounds == 0;
}

template <typename Index>
bool wrap_indices(const char* indices, int64_t count, int64_t axis_size, int32_t* wrapped) {
    return wrap(reinterpret_cast<const Index*>(indices), count, axis_size, wrapped);
}

template <typename Index>
bool all_same(const char* indices, int64_t count) {
    const auto* const at = reinterpret_cast<const Index*>(indices);
    const Index first = at[0];
    Index different = at[count - 1] ^ first;  // if any differ, these two mostly do
    for (int64_t i = 0; different == 0 && i < count; i += 64) {
        const int64_t end = i + 64 < count ? i + 64 : count;
        for (int64_t j = i; j < end; ++j) different |= at[j] ^ first;
    }
    return different == 0;
}

}  // namespace
}  // namespace ov_gather
