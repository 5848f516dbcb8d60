// Lines gathered by AVX-512 gather instructions: indices are loaded, checked and used in registers. isa.cpp decides where that
// pays. Only for files compiled per instruction set: see lines.cpp.
#pragma once

#include <immintrin.h>
#include <stdint.h>

#include "lines.hpp"

namespace ov_gather {
namespace {

constexpr int64_t lanes = 16;  // elements per vector
constexpr int64_t index_ahead =
    1024;  // bytes; prefetches of indices gain 3% to 13% on a Xeon (Granite Rapids), those of rows nothing
constexpr int64_t checked_ahead = 256;  // elements; positions ready for gather instructions, if data exceed the near caches
constexpr int64_t ring_size = 1024;     // elements, a power of two

template <bool flag>
struct Known {
    static constexpr bool value = flag;
};

// What is added to index * axis step to get the offset into data: nothing, the position in the line, or an element of `starts`.
enum class Shift { none, position, listed };

// Load the indices of the lanes in `which`, narrowed to 32 bits. `fits` receives the lanes whose index fits.
inline __m512i load_indices(const int32_t* indices, __mmask16 which, __mmask16& fits) {
    fits = which;
    return in_register(_mm512_maskz_loadu_epi32(which, indices));
}

inline __m512i load_indices(const int64_t* indices, __mmask16 which, __mmask16& fits) {
    const __m512i low = in_register(_mm512_maskz_loadu_epi64(static_cast<__mmask8>(which), indices));
    const __m512i high = in_register(_mm512_maskz_loadu_epi64(static_cast<__mmask8>(which >> 8), indices + 8));
    const __m256i first = _mm512_cvtepi64_epi32(low), second = _mm512_cvtepi64_epi32(high);
    const unsigned first_fits = _mm512_cmpeq_epi64_mask(_mm512_cvtepi32_epi64(first), low);
    const unsigned second_fits = _mm512_cmpeq_epi64_mask(_mm512_cvtepi32_epi64(second), high);
    fits = static_cast<__mmask16>((second_fits << 8 | first_fits) & which);
    return _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1);
}

// Load indices, and prefetch those further on. Return positions from the start; an unsigned one is below the axis size if its
// index is in bounds.
template <typename Index>
inline __m512i load_positions(const Index* indices, __mmask16 which, __m512i sizes) {
    for (int64_t at = 0; at < lanes * static_cast<int64_t>(sizeof(Index)); at += 64)
        fetch(reinterpret_cast<const char*>(indices) + index_ahead + at);
    __mmask16 fits;
    const __m512i index = load_indices(indices, which, fits);
    const __m512i position = _mm512_mask_add_epi32(index, _mm512_movepi32_mask(index), index, sizes);
    return _mm512_mask_mov_epi32(_mm512_set1_epi32(-1), fits, position);
}

// Gather the elements at `offsets`, and write those of the lanes in `which`. Lanes not in `valid` read nothing and get zeros.
// Whole vectors may be streamed to aligned addresses.
template <bool whole, bool streamed>
inline void gather_to(uint32_t* output, const uint32_t* data, __m512i offsets, __mmask16 which, __mmask16 valid) {
    const __m512i found = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), valid, offsets, data, 4);
    if (whole && streamed)
        _mm512_stream_si512(reinterpret_cast<__m512i*>(output), found);
    else
        _mm512_mask_storeu_epi32(output, which, found);
}

template <bool whole, bool streamed>
inline void gather_to(uint64_t* output, const uint64_t* data, __m512i offsets, __mmask16 which, __mmask16 valid) {
    const __m512i first = _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), static_cast<__mmask8>(valid),
                                                      _mm512_castsi512_si256(offsets), data, 8);
    const __m512i second = _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), static_cast<__mmask8>(valid >> 8),
                                                       _mm512_extracti64x4_epi64(offsets, 1), data, 8);
    if (whole && streamed) {
        _mm512_stream_si512(reinterpret_cast<__m512i*>(output), first);
        _mm512_stream_si512(reinterpret_cast<__m512i*>(output + 8), second);
    } else {
        _mm512_mask_storeu_epi64(output, static_cast<__mmask8>(which), first);
        _mm512_mask_storeu_epi64(output + 8, static_cast<__mmask8>(which >> 8), second);
    }
}

// Elements below 32 bits are extracted from the aligned 32 bits around them, which lie on one page.
template <typename Element>
inline __m512i gather_words(const Element* data, __m512i offsets, __mmask16 valid) {
    const uintptr_t start = reinterpret_cast<uintptr_t>(data), aligned = start & ~uintptr_t{3};
    const __m512i bytes = _mm512_add_epi32(sizeof(Element) == 2 ? _mm512_slli_epi32(offsets, 1) : offsets,
                                           _mm512_set1_epi32(static_cast<int32_t>(start - aligned)));
    const __m512i words = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), valid, _mm512_srai_epi32(bytes, 2),
                                                      reinterpret_cast<const void*>(aligned), 4);
    return _mm512_srlv_epi32(words, _mm512_slli_epi32(_mm512_and_si512(bytes, _mm512_set1_epi32(3)), 3));
}

template <bool whole, bool streamed>
inline void gather_to(uint16_t* output, const uint16_t* data, __m512i offsets, __mmask16 which, __mmask16 valid) {
    const __m256i found = _mm512_cvtepi32_epi16(gather_words(data, offsets, valid));
    if (whole && streamed)
        _mm256_stream_si256(reinterpret_cast<__m256i*>(output), found);
    else
        _mm256_mask_storeu_epi16(output, which, found);
}

template <bool whole, bool streamed>
inline void gather_to(uint8_t* output, const uint8_t* data, __m512i offsets, __mmask16 which, __mmask16 valid) {
    const __m128i found = _mm512_cvtepi32_epi8(gather_words(data, offsets, valid));
    if (whole && streamed)
        _mm_stream_si128(reinterpret_cast<__m128i*>(output), found);
    else
        _mm_mask_storeu_epi8(output, which, found);
}

inline __mmask16 first_lanes(int64_t count) { return static_cast<__mmask16>(count < lanes ? (1u << count) - 1 : 0xFFFF); }

template <Shift shift, bool streamed, typename Element, typename Index>
bool gather_line_to(const Plane& plane, const Element* data, const Index* indices, const int32_t* starts, Element* output,
                    int64_t count) {
    const int64_t step = plane.axis_stride / static_cast<int64_t>(sizeof(Element));
    const __m512i sizes = _mm512_set1_epi32(static_cast<int32_t>(plane.axis_size));
    const __m512i steps = _mm512_set1_epi32(static_cast<int32_t>(step));
    const __m512i positions = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    unsigned bad = 0;
    const auto gather = [&](int64_t i, __mmask16 which, auto whole) {
        __m512i index = load_positions(indices + i, which, sizes);
        const __mmask16 valid = _mm512_cmplt_epu32_mask(index, sizes);
        bad |= which & ~valid;
        if (shift != Shift::none) {
            const __m512i shifts = shift == Shift::position ? positions : _mm512_maskz_loadu_epi32(which, starts + i);
            index = _mm512_add_epi32(_mm512_mullo_epi32(index, steps), shifts);
        }
        gather_to<whole.value, streamed>(output + i, data + (shift == Shift::position ? i : 0), index, which, valid);
    };
    int64_t i = 0;
    if (streamed) {  // elements before the first aligned address
        const int64_t head = (-reinterpret_cast<intptr_t>(output) & 63) / static_cast<int64_t>(sizeof(Element));
        for (const int64_t end = head < count ? head : count; i < end; i += lanes < end - i ? lanes : end - i)
            gather(i, first_lanes(end - i), Known<false>{});
    }
    for (; i + lanes <= count; i += lanes) gather(i, 0xFFFF, Known<true>{});
    if (i < count) gather(i, first_lanes(count - i), Known<false>{});
    return bad == 0 || plane.zero;
}

// Gather whole vectors whose positions wait in a ring: gather instructions that wait for no index keep more loads in flight.
template <bool streamed, typename Element, typename Index>
bool gather_ahead_to(const Plane& plane, const Element* data, const Index* indices, Element* output, int64_t count) {
    alignas(64) int32_t ring[ring_size];
    const __m512i sizes = _mm512_set1_epi32(static_cast<int32_t>(plane.axis_size));
    unsigned bad = 0;
    const auto check = [&](int64_t i) { _mm512_store_si512(ring + i % ring_size, load_positions(indices + i, 0xFFFF, sizes)); };
    const auto gather = [&](int64_t i) {
        const __m512i position = _mm512_load_si512(ring + i % ring_size);
        const __mmask16 valid = _mm512_cmplt_epu32_mask(position, sizes);
        bad |= valid ^ 0xFFFF;
        gather_to<true, streamed>(output + i, data, position, 0xFFFF, valid);
    };
    for (int64_t i = 0; i < checked_ahead; i += lanes) check(i);
    int64_t i = checked_ahead;
    for (; i < count; i += lanes) {
        check(i);
        gather(i - checked_ahead);
    }
    for (i -= checked_ahead; i < count; i += lanes) gather(i);
    return bad == 0 || plane.zero;
}

// Gather a line. Return false if an index is out of bounds, unless plane.zero. `starts` are used by Shift::listed.
template <Shift shift, typename Element, typename Index>
bool gather_line(const Plane& plane, const char* data, const Index* indices, const int32_t* starts, Element* output,
                 int64_t count) {
    const auto* from = reinterpret_cast<const Element*>(data);
    return plane.stream ? gather_line_to<shift, true>(plane, from, indices, starts, output, count)
                        : gather_line_to<shift, false>(plane, from, indices, starts, output, count);
}

// Gather a line of more than 2 * `checked_ahead` elements, all but the ends by gather_ahead_to.
template <typename Element, typename Index>
bool gather_ahead(const Plane& plane, const char* data, const Index* indices, Element* output, int64_t count) {
    const auto* from = reinterpret_cast<const Element*>(data);
    const int64_t head = plane.stream ? (-reinterpret_cast<intptr_t>(output) & 63) / static_cast<int64_t>(sizeof(Element)) : 0;
    const int64_t whole = (count - head) / lanes * lanes, end = head + whole;
    const auto gather = plane.stream ? gather_ahead_to<true, Element, Index> : gather_ahead_to<false, Element, Index>;
    return gather_line<Shift::none>(plane, data, indices, nullptr, output, head) &&
           gather(plane, from, indices + head, output + head, whole) &&
           gather_line<Shift::none>(plane, data, indices + end, nullptr, output + end, count - end);
}

// Return true if 32-bit offsets suffice for lines of `count` elements, and gather instructions pay for the data.
template <typename Element>
bool are_vectors(const Plane& plane, int64_t count) {
    constexpr int64_t size = sizeof(Element);
    const int64_t stride = plane.axis_stride < 0 ? -plane.axis_stride : plane.axis_stride;
    const bool across = plane.line.data_stride != 0;
    const bool beyond = !across && plane.prefetch;
    return size <= 8 && (across || plane.axis_stride == size) && (beyond ? plane.near : plane.gathers) &&
           plane.axis_size <= INT32_MAX && plane.axis_size * stride + (across ? count * size : 0) <= INT32_MAX;
}

template <typename Element, typename Index>
bool gather_vectors(const Plane& plane, const char* data, const Index* indices, Element* output, int64_t count) {
    if (plane.line.data_stride == 0 && plane.prefetch && count > 2 * checked_ahead)
        return gather_ahead(plane, data, indices, output, count);
    return plane.line.data_stride != 0 ? gather_line<Shift::position>(plane, data, indices, nullptr, output, count)
                                       : gather_line<Shift::none>(plane, data, indices, nullptr, output, count);
}

}  // namespace
}  // namespace ov_gather
