// Short lines that share a block, each with its offset in data. Only for files compiled per instruction set: see lines.cpp.
#pragma once

#include <stdint.h>

#include "line_blocks.hpp"

namespace ov_gather {
namespace {

constexpr int64_t short_line = 64;      // elements; longer lines are worth blocks of their own
constexpr int64_t near_rows = 1 << 15;  // bytes; the indices of a block reach nearly all of so few rows

inline int64_t magnitude(int64_t number) { return number < 0 ? -number : number; }

// Return true if lines are short, contiguous, and near enough to each other in data for 32-bit offsets.
template <typename Element, typename Index>
bool are_short(const Plane& plane, int64_t lines, int64_t count) {
    constexpr int64_t size = sizeof(Element);
    return lines > 1 && count <= short_line && plane.line.data_stride == 0 &&
           plane.lines.index_stride == count * static_cast<int64_t>(sizeof(Index)) &&
           plane.lines.output_stride == count * size && plane.lines.data_stride % size == 0 && plane.axis_size <= INT32_MAX &&
           block * magnitude(plane.lines.data_stride) + plane.axis_size * magnitude(plane.axis_stride) <= INT32_MAX;
}

template <typename Element, typename Index>
bool short_lines(const Plane& plane, const char* data, const Index* indices, Element* output, int64_t lines, int64_t count) {
    constexpr int64_t size = sizeof(Element);
    const int32_t row_step = static_cast<int32_t>(plane.lines.data_stride / size);
    const int32_t step = static_cast<int32_t>(plane.axis_stride / size);
    const int64_t rows = block / count < lines ? block / count : lines;
    int32_t starts[block], offsets[block];
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t i = 0; i < count; ++i) starts[row * count + i] = static_cast<int32_t>(row) * row_step;
    const int64_t reach = rows * plane.lines.data_stride, fetched = reach <= near_rows ? reach : 0;
    Element buffer[block];
    for (int64_t top = 0; top < lines; top += rows) {
        const int64_t height = lines - top < rows ? lines - top : rows, length = height * count;
        const char* from = data + top * plane.lines.data_stride;
        const Index* where = indices + top * count;
        Element* to = output + top * count;
#if OV_GATHER_VECTOR_GATHER
        if constexpr (size <= 8) {
            if (!plane.prefetch) {
                if (!gather_line<Shift::listed>(plane, from, where, starts, to, length)) return false;
                continue;
            }
        }
#endif
        for (int64_t at = 0; at < fetched; at += 64) fetch(from + fetched + at);  // the rows of the next block
        if (wrap(where, length, plane.axis_size, offsets)) {
            for (int64_t i = 0; i < length; ++i) offsets[i] = offsets[i] * step + starts[i];
            const auto* upcoming = reinterpret_cast<const char*>(where + index_prefetch);
            take_ahead<Element, int32_t, false>(plane, reinterpret_cast<const Element*>(from), 1, offsets,
                                                plane.stream ? buffer : to, length, upcoming, sizeof(Index));
            if (plane.stream) stream(reinterpret_cast<const char*>(buffer), reinterpret_cast<char*>(to), length * size);
        } else if (plane.zero) {
            for (int64_t row = 0; row < height; ++row)
                contiguous(plane, from + row * plane.lines.data_stride, where + row * count, to + row * count, count);
        } else {
            return false;
        }
    }
    return true;
}

}  // namespace
}  // namespace ov_gather
