// Lines that are columns of the output, gathered in tiles. Only for files compiled per instruction set: see lines.cpp.
#pragma once

#include <stdint.h>

#include "line_blocks.hpp"

namespace ov_gather {
namespace {

constexpr int64_t tile_bytes = 64;  // bytes of the output written at once: a cache line

// Prefetch a row while the one before is gathered: hardware does not predict the order of rows.
OV_GATHER_INLINE void prefetch_row(const char* row, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += 64) fetch(row + at);
}

// Gather tiles of such lines, and write them transposed. `reach` bytes of each row are prefetched.
template <typename Element, typename Index>
bool transposed(const Plane& plane, const char* data, const char* indices, char* output, int64_t lines, int64_t count,
                int64_t reach) {
    constexpr int64_t size = sizeof(Element), height = tile_bytes / size;
    Element tile[height][block + height];  // padded, because rows a power of two apart share cache sets
    Plane row = plane;
    row.line.output_stride = size;
    row.stream = false;
    const int64_t step = plane.line.output_stride;
    for (int64_t top = 0; top < lines; top += height) {
        const int64_t rows = lines - top < height ? lines - top : height;
        for (int64_t left = 0; left < count; left += block) {
            const int64_t columns = count - left < block ? count - left : block;
            for (int64_t i = 0; i < rows; ++i) {
                const char* from = data + (top + i) * plane.lines.data_stride + left * plane.line.data_stride;
                if (left == 0) prefetch_row(from + plane.lines.data_stride, reach);
                const char* where = indices + (top + i) * plane.lines.index_stride + left * plane.line.index_stride;
                if (!contiguous(row, from, reinterpret_cast<const Index*>(where), tile[i], columns)) return false;
            }
            for (int64_t j = 0; j < columns; ++j) {
                fetch_to_write(output + (left + j + prefetch_ahead) * step + top * size);
                auto* to = reinterpret_cast<Element*>(output + (left + j) * step) + top;
                if (rows == height)  // a constant trip count for the compiler
                    for (int64_t i = 0; i < height; ++i) to[i] = tile[i][j];
                else
                    for (int64_t i = 0; i < rows; ++i) to[i] = tile[i][j];
            }
        }
    }
    return true;
}

}  // namespace
}  // namespace ov_gather
