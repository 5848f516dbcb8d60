// Lines with one index each, copied as slices. Only for files compiled per instruction set: see lines.cpp.
#pragma once

#include <stdint.h>
#include <string.h>

#include "line_blocks.hpp"

namespace ov_gather {
namespace {

constexpr int64_t slice_prefetch = 8192;  // bytes of slices in flight
constexpr int64_t slices_ahead = 64;      // slices in flight at most; fewer if they are long

// Copy the slice of one index, element by element.
template <typename Element>
bool constant(const Plane& plane, const char* data, int64_t index, char* output, int64_t count) {
    constexpr int64_t size = sizeof(Element);
    if (!wrap_index(index, plane.axis_size)) {
        for (int64_t i = 0; plane.zero && i < count; ++i) memset(output + i * plane.line.output_stride, 0, size);
        return plane.zero;
    }
    data += index * plane.axis_stride;
    for (int64_t i = 0; i < count; ++i) memcpy(output + i * plane.line.output_stride, data + i * plane.line.data_stride, size);
    return true;
}

// Prefetch the slice of an index, with the cache lines at both ends, since arrays are rarely aligned to them. The index may be
// out of bounds, because a prefetch may use any address.
OV_GATHER_INLINE void prefetch_slice(const Plane& plane, const char* data, int64_t index, int64_t bytes) {
    if (index < 0) index += plane.axis_size;
    const uintptr_t slice = reinterpret_cast<uintptr_t>(data) + static_cast<uint64_t>(index) * plane.axis_stride;
    const int64_t head = slice & 63;
    for (int64_t at = -head; at < bytes && at < slice_prefetch; at += 64) fetch(reinterpret_cast<const char*>(slice + at));
}

// Copy slices that are contiguous in data and output. Far slices are prefetched; the hardware prefetches the rest of long ones.
template <typename Index, typename Copy>
bool copy_slices(const Plane& plane, const char* data, const char* indices, char* output, int64_t lines, int64_t bytes,
                 const Copy& copy) {
    const int64_t size = plane.axis_size, stride = plane.axis_stride;
    const Loop step = plane.lines;
    const int64_t fit = slice_prefetch / bytes, most = fit < 1 ? 1 : fit > slices_ahead ? slices_ahead : fit;
    const int64_t ahead = plane.prefetch ? most : lines;
    const auto prefetch = [=](int64_t i) {
        prefetch_slice(plane, data + i * step.data_stride, read_once<Index>(indices + i * step.index_stride), bytes);
    };
    for (int64_t i = 0; i < ahead && i < lines && plane.prefetch; ++i) prefetch(i);
    for (int64_t i = 0; i < lines; ++i) {
        if (i + ahead < lines) prefetch(i + ahead);
        int64_t index = read_once<Index>(indices + i * step.index_stride);
        if (wrap_index(index, size))
            copy(data + i * step.data_stride + index * stride, output + i * step.output_stride);
        else if (plane.zero)
            memset(output + i * step.output_stride, 0, bytes);
        else
            return false;
    }
    return true;
}

// Copy between `part` and 2 * `part` bytes by two copies, which may overlap.
template <int64_t part>
struct ShortCopy {
    int64_t bytes;
    void operator()(const char* from, char* to) const {
        memcpy(to, from, part);
        memcpy(to + bytes - part, from + bytes - part, part);
    }
};

template <typename Index>
bool slices(const Plane& plane, const char* data, const char* indices, char* output, int64_t lines, int64_t bytes) {
    const auto with = [=](const auto& copy) { return copy_slices<Index>(plane, data, indices, output, lines, bytes, copy); };
    if (plane.stream) return with([=](const char* from, char* to) { stream(from, to, bytes); });
    if (bytes < 8 || bytes > 512) return with([=](const char* from, char* to) { memcpy(to, from, bytes); });
    if (bytes <= 16) return with(ShortCopy<8>{bytes});
    if (bytes <= 32) return with(ShortCopy<16>{bytes});
    if (bytes <= 64) return with(ShortCopy<32>{bytes});
    return with([=](const char* from, char* to) {
        for (int64_t at = 0; at + 64 < bytes; at += 64) memcpy(to + at, from + at, 64);
        memcpy(to + bytes - 64, from + bytes - 64, 64);
    });
}

}  // namespace
}  // namespace ov_gather
