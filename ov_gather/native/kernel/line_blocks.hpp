// Lines with contiguous indices and output, gathered in blocks. Only for files compiled per instruction set: see lines.cpp.
#pragma once

#include <stdint.h>
#include <string.h>

#include "line_indices.hpp"
#include "lines.hpp"

#if OV_GATHER_HAS_AVX
#include <immintrin.h>
#endif
#if defined(__AVX512F__)
#include "vector_gather.hpp"
#endif

namespace ov_gather {
namespace {

constexpr int64_t block = 512;            // indices of a call, whose positions stay in the first-level cache
constexpr int64_t far_block = 2048;       // the same with prefetching, whose loads in flight end with a block
constexpr int64_t index_prefetch = 1024;  // elements; indices are prefetched this far ahead of a block
constexpr int64_t prefetch_ahead = 24;    // elements; loads in flight that hide the latency of memory
constexpr int64_t far_ahead = 96;         // elements; loads in flight to the second-level cache
constexpr int64_t cached_ahead = 64;      // elements; loads in flight from the last-level cache

// Indices checked, then used, if their data are near. While a processor waits for the data of 64, it checks the next: with AVX2
// that takes 0.90 of the time of 512 on a Xeon (Granite Rapids; 400 KB of data), with SSE2 0.88, with AVX-512 0.72 to 0.95 on a
// Zen 4, where 32 and 128 took longer in most cases.
constexpr int64_t near_part = 64, near_index_prefetch = 256;

#if OV_GATHER_HAS_AVX
// Write a cache line at an aligned address.
inline void stream_line(const char* from, char* to) {
#if defined(__AVX512F__)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
#else
    for (int64_t at = 0; at < 64; at += 16)
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)));
#endif
}
#endif

// Write whole cache lines around the caches. Vectors of 64 bytes write 1.2 times as fast as those of 16 bytes on an Intel Xeon
// (Granite Rapids).
inline void stream(const char* from, char* to, int64_t bytes) {
#if OV_GATHER_HAS_AVX
    const int64_t head = -reinterpret_cast<intptr_t>(to) & 63;
    if (head <= bytes) {
        memcpy(to, from, head);
        int64_t at = head;
        for (; at + 64 <= bytes; at += 64) stream_line(from + at, to + at);
        memcpy(to + at, from + at, bytes - at);
        return;
    }
#endif
    memcpy(to, from, bytes);
}

// Gather a block by checked offsets. `upcoming` are the indices of the next block: the hardware prefetcher loses their stream
// while this block is gathered. Data are prefetched in one step, or in two: to the second-level cache, which holds more, and
// later to the first.
template <typename Element, typename Offset, bool across, int steps>
OV_GATHER_APART void take(const Element* data, int64_t step, const Offset* offsets, Element* __restrict output, int64_t count,
                          const char* upcoming, int64_t index_size) {
    constexpr int64_t ahead = steps == 1 ? cached_ahead : prefetch_ahead;
    const auto take_one = [=](int64_t i) {
        if (steps == 2) {
            const int64_t far = i + far_ahead < count ? i + far_ahead : count - 1;
            fetch_far(data + offsets[far] * step + (across ? far : 0));
        }
        if (steps != 0) {
            const int64_t near = i + ahead < count ? i + ahead : count - 1;
            fetch(data + offsets[near] * step + (across ? near : 0));
        }
        output[i] = data[offsets[i] * step + (across ? i : 0)];
    };
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        fetch(upcoming + i * index_size);
        for (int64_t k = 0; k < 8; ++k) take_one(i + k);
    }
    for (; i < count; ++i) take_one(i);
}

// Multiply offsets by the step of the axis, and add those of their lines.
template <typename Offset>
void shift(Offset* offsets, int64_t count, int64_t step, const int32_t* starts) {
    for (int64_t i = 0; step != 1 && i < count; ++i) offsets[i] *= static_cast<Offset>(step);
    for (int64_t i = 0; i < count; ++i) offsets[i] += starts[i];
}

// Check and gather a block in parts. `starts`, if there are any, are added to the offsets. Return false if an index is out of
// bounds.
template <typename Offset, bool across, int steps, typename Element, typename Index>
bool take_parts(const Plane& plane, const Element* data, int64_t step, const Index* indices, const int32_t* starts,
                Element* output, int64_t count) {
    constexpr int64_t part = steps == 0 ? near_part : far_block;
    Offset offsets[part];
    for (int64_t at = 0; at < count; at += part) {
        const int64_t length = count - at < part ? count - at : part;
        if (!wrap(indices + at, length, plane.axis_size, offsets)) return false;
        if (starts != nullptr) shift(offsets, length, step, starts + at);
        take<Element, Offset, across, steps>(
            data + (across ? at : 0), starts != nullptr ? 1 : step, offsets, output + at, length,
            reinterpret_cast<const char*>(indices + at + (steps == 0 ? near_index_prefetch : index_prefetch)), sizeof(Index));
    }
    return true;
}

template <bool across, typename Element, typename Index>
bool take_ahead(const Plane& plane, const Element* data, int64_t step, const Index* indices, const int32_t* starts,
                Element* output, int64_t count) {
    const auto gather = !plane.prefetch ? take_parts<int32_t, across, 0, Element, Index>
                        : plane.far     ? take_parts<int32_t, across, 2, Element, Index>
                                        : take_parts<int32_t, across, 1, Element, Index>;
    return gather(plane, data, step, indices, starts, output, count);
}

template <typename Element, typename Index>
bool take_block(const Plane& plane, const Element* data, const Index* indices, Element* output, int64_t count) {
    const int64_t step = plane.axis_stride / static_cast<int64_t>(sizeof(Element));
    const bool across = plane.line.data_stride != 0;
    if (plane.axis_size > INT32_MAX) {  // larger than any cache
        const auto gather =
            across ? take_parts<int64_t, true, 2, Element, Index> : take_parts<int64_t, false, 2, Element, Index>;
        return gather(plane, data, step, indices, nullptr, output, count);
    }
    if (across) return take_ahead<true>(plane, data, step, indices, nullptr, output, count);
    if (step == 1) return take_ahead<false>(plane, data, 1, indices, nullptr, output, count);
    return take_parts<int32_t, false, 0>(plane, data, step, indices, nullptr, output, count);
}

template <typename Element, typename Index>
bool strided(const Plane& plane, const char* data, const char* indices, char* output, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
        int64_t index = read_once<Index>(indices + i * plane.line.index_stride);
        if (wrap_index(index, plane.axis_size))
            memcpy(output + i * plane.line.output_stride, data + index * plane.axis_stride + i * plane.line.data_stride,
                   sizeof(Element));
        else if (plane.zero)
            memset(output + i * plane.line.output_stride, 0, sizeof(Element));
        else
            return false;
    }
    return true;
}

// Gather a line block by block.
template <typename Element, typename Index>
OV_GATHER_APART bool by_blocks(const Plane& plane, const char* data, const Index* indices, Element* output, int64_t count) {
    Element buffer[far_block];
    const int64_t most = plane.prefetch ? far_block : block;
    for (int64_t start = 0; start < count; start += most) {
        const int64_t length = count - start < most ? count - start : most;
        const auto* from = reinterpret_cast<const Element*>(data + start * plane.line.data_stride);
        Element* to = plane.stream ? buffer : output + start;
        if (!take_block(plane, from, indices + start, to, length)) {
            if (!plane.zero) return false;
            strided<Element, Index>(plane, reinterpret_cast<const char*>(from), reinterpret_cast<const char*>(indices + start),
                                    reinterpret_cast<char*>(output + start), length);
        } else if (plane.stream)
            stream(reinterpret_cast<const char*>(buffer), reinterpret_cast<char*>(output + start), length * sizeof(Element));
    }
    return true;
}

template <typename Element, typename Index>
inline bool contiguous(const Plane& plane, const char* data, const Index* indices, Element* output, int64_t count) {
#if defined(__AVX512F__)
    if constexpr (sizeof(Element) <= 8)
        if (are_vectors<Element>(plane, count)) return gather_vectors(plane, data, indices, output, count);
#endif
    return by_blocks(plane, data, indices, output, count);
}

}  // namespace
}  // namespace ov_gather
