// The two innermost loops of a gather, for each element size, index type and instruction set.
#pragma once

#include <cstdint>

#include "ov_gather_kernel.h"
#include "platform.hpp"

namespace ov_gather {

using Loop = ov_gather_loop;

struct Bytes16 {
    uint64_t low, high;
};

struct Plane {
    Loop lines;
    Loop line;
    int64_t axis_size;
    int64_t axis_stride;
    int64_t next;   // bytes from the data of this plane to those of the next, if prefetching these pays; otherwise 0
    bool prefetch;  // the data that an index can reach exceed the near caches
    bool near;      // they exceed them a few times at most, so that gather instructions pay
    bool gathers;   // gather instructions pay for data in the near caches, too
    bool far;       // they exceed all caches
    bool stream;    // the output is streamed around the caches, because the arrays exceed them
    bool zero;      // write zeros for an index out of bounds
};

// Gather `lines` lines of `count` elements and return true. Return false without reading out of bounds if an index is out of
// bounds, unless plane.zero. The pointers address the first element; `lines` > 1 requires whole lines.
using PlaneFunction = bool (*)(const Plane&, const char* data, const char* indices, char* output, int64_t lines, int64_t count);

// Read an index from memory once. Static for the reason given in lines.cpp.
template <typename Index>
static inline int64_t read_once(const void* index) {
    return load_once(static_cast<const Index*>(index));
}

// Wrap an index that counts from the end. Return false if it is out of bounds.
static inline bool wrap_index(int64_t& index, int64_t axis_size) {
    index += (index >> 63) & axis_size;
    return static_cast<uint64_t>(index) < static_cast<uint64_t>(axis_size);
}

// Convert `count` contiguous indices to positions from the start, as int32. Return false if one is out of bounds; the positions
// are in bounds even then, unless the axis is empty.
using WrapFunction = bool (*)(const char* indices, int64_t count, int64_t axis_size, int32_t* wrapped);

// Return true if all `count` contiguous indices are equal.
using AllSameFunction = bool (*)(const char* indices, int64_t count);

// Return the position of the first of `count` numbers, `stride` bytes apart, that is outside of the two numbers `limits`; -1 if
// none is. NaN is outside.
using OutsideFunction = int64_t (*)(const char* numbers, int64_t count, int64_t stride, const void* limits);

// The output rows of an aggregation from a row on, and the edges that are reduced to them.
struct Aggregate {
    const char *data, *weights;
    char* output;
    int64_t width;         // elements per row
    int64_t weight_count;  // weights per edge: 0, or a divisor of the width
    ov_gather_reduction reduction;
    bool mean;
    const int32_t* starts;           // the edges of row r are starts[r] to starts[r + 1] - 1 of those that follow
    const int32_t *sources, *edges;  // rows of data, and positions of weights, ignored without; some more are prefetched
};

// Reduce the rows `first` to `last` - 1.
using AggregateFunction = void (*)(const Aggregate&, int64_t first, int64_t last);

// The functions of one instruction set: planes by log2 of the element size (1 to 16 bytes), and wrap and all_same, by index
// type (int32, int64); first_outside by kind (signed, unsigned, float) and log2 of the element size, null for floats below 4
// bytes; aggregate by type: float32, float16, bfloat16.
struct LineFunctions {
    PlaneFunction planes[5][2];
    WrapFunction wrap[2];
    AllSameFunction all_same[2];
    OutsideFunction first_outside[3][4];
    AggregateFunction aggregate[3];
};

}  // namespace ov_gather
