// Lines that one index names as a whole are copied. Only lines.cpp includes this file, for the reason that stands at its head.
#pragma once

#include <stdint.h>
#include <string.h>

#include "line_blocks.hpp"

namespace ov_gather {
namespace {

constexpr int64_t slice_prefetch = 2048;  // bytes of slices in flight; of a long one the hardware foresees the rest

// Copies a slice of whole cache lines by itself, because a call of memcpy takes as long.
inline void copy_slice(const char* from, char* to, int64_t bytes) {
    if (bytes % 64 != 0 || bytes > 512) {
        memcpy(to, from, bytes);
        return;
    }
    for (int64_t at = 0; at < bytes; at += 64) memcpy(to + at, from + at, 64);
}

// Copies the slice that the one index of a whole line names.
template <typename Element>
bool constant(const Plane& plane, const char* data, int64_t index, char* output, int64_t count) {
    constexpr int64_t size = sizeof(Element);
    if (index < 0) index += plane.axis_size;
    if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(plane.axis_size)) {
        for (int64_t i = 0; plane.zero && i < count; ++i) memset(output + i * plane.line.output_stride, 0, size);
        return plane.zero;
    }
    data += index * plane.axis_stride;
    if (plane.line.data_stride == size && plane.line.output_stride == size) {
        if (plane.stream)
            stream(data, output, count * size);
        else
            copy_slice(data, output, count * size);
        return true;
    }
    for (int64_t i = 0; i < count; ++i) memcpy(output + i * plane.line.output_stride, data + i * plane.line.data_stride, size);
    return true;
}

// Fetches the slice that an index names. The index may be out of bounds, because a prefetch may point anywhere.
inline void prefetch_slice(const Plane& plane, const char* data, int64_t index, int64_t bytes) {
    if (index < 0) index += plane.axis_size;
    const uintptr_t slice = reinterpret_cast<uintptr_t>(data) + static_cast<uint64_t>(index) * plane.axis_stride;
    for (int64_t at = 0; at < bytes && at < slice_prefetch; at += 64) fetch(reinterpret_cast<const char*>(slice + at));
}

// Copies short slices, of `part` bytes at least and twice as many at most: the first and the last bytes of each.
template <int64_t part, typename Index>
bool short_slices(const Plane& plane, const char* data, const char* indices, char* output, int64_t lines, int64_t bytes) {
    const int64_t size = plane.axis_size, stride = plane.axis_stride;
    const Loop step = plane.lines;
    for (int64_t i = 0; i < lines; ++i, data += step.data_stride, indices += step.index_stride, output += step.output_stride) {
        const int64_t given = read_once<Index>(indices), index = given + ((given >> 63) & size);
        if (static_cast<uint64_t>(index) < static_cast<uint64_t>(size)) {
            const char* const from = data + index * stride;
            memcpy(output, from, part);
            memcpy(output + bytes - part, from + bytes - part, part);
        } else if (plane.zero) {
            memset(output, 0, bytes);
        } else {
            return false;
        }
    }
    return true;
}

}  // namespace
}  // namespace ov_gather
