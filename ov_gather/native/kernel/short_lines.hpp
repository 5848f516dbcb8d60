// Short lines that share a block, each with its offset in data. Only for files compiled per instruction set: see lines.cpp.
#pragma once

#include <stdint.h>

#include "line_blocks.hpp"

namespace ov_gather {
namespace {

constexpr int64_t short_line = 64;  // elements; longer lines are worth blocks of their own

// Bytes of rows up to which those of the next block are prefetched: the indices of a block reach nearly all of them. Lines of 2
// to 8 elements take 0.63 to 0.70 of the time on a Zen 5, but about 1.1 on an Intel Xeon (Granite Rapids), where none are.
constexpr int64_t near_rows = 1 << 15;

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
    int32_t starts[block];
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t i = 0; i < count; ++i) starts[row * count + i] = static_cast<int32_t>(row) * row_step;
    const int64_t reach = rows * plane.lines.data_stride, fetched = reach <= near_rows && !is_intel() ? reach : 0;
    Element buffer[block];
    for (int64_t top = 0; top < lines; top += rows) {
        const int64_t height = lines - top < rows ? lines - top : rows, length = height * count;
        const char* from = data + top * plane.lines.data_stride;
        const Index* where = indices + top * count;
        Element* to = output + top * count;
#if defined(__AVX512F__)
        if constexpr (size <= 8) {
            if (plane.gathers && !plane.prefetch) {
                if (!gather_line<Shift::listed>(plane, from, where, starts, to, length)) return false;
                continue;
            }
        }
#endif
        for (int64_t at = 0; at < fetched; at += 64) fetch(from + fetched + at);  // the rows of the next block
        if (take_ahead<false>(plane, reinterpret_cast<const Element*>(from), step, where, starts, plane.stream ? buffer : to,
                              length)) {
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
