// The two innermost loops of a gather run over lines of elements, for every element size, index type and instruction set.
#pragma once

#include <cstdint>

#include "platform.hpp"

namespace ov_gather {

// A Loop is one loop of the walk over the positions of indices. Strides are in bytes; data_stride is 0 for the axis, whose
// coordinate comes from indices.
struct Loop {
    int64_t size;
    int64_t index_stride;
    int64_t data_stride;
    int64_t output_stride;
};

struct Plane {
    Loop lines;
    Loop line;
    int64_t axis_size;
    int64_t axis_stride;
    bool prefetch;  // the data that an index can reach exceeds the caches near the core
    bool stream;    // the arrays exceed the last-level cache, so that the output is written around it
    bool zero;      // an index out of bounds yields zeros
};

// Gathers `lines` lines of `count` elements and returns true; or returns false if an index is out of bounds (and that does not
// yield zeros), having read nothing there. The pointers are those of the first element; `lines` > 1 only for whole lines.
using PlaneFunction = bool (*)(const Plane&, const char* data, const char* indices, char* output, int64_t lines, int64_t count);

// Reads an index from memory once. The function is static for the reason at the head of lines.cpp.
template <typename Index>
static inline int64_t read_once(const void* index) {
    return load_once(static_cast<const Index*>(index));
}

// Counts `count` contiguous indices from the start, and narrows them. Returns false if one is out of bounds; what is written
// is in bounds nevertheless, unless the axis is empty.
using WrapFunction = bool (*)(const char* indices, int64_t count, int64_t axis_size, int32_t* wrapped);

// Tells whether all of `count` contiguous indices are the same as the first.
using AllSameFunction = bool (*)(const char* indices, int64_t count);

// The functions of one instruction set. Those of planes are found by the logarithm of the element size (1 to 16 bytes), then
// by the index type (int32, int64); the others by the index type.
struct LineFunctions {
    PlaneFunction planes[5][2];
    WrapFunction wrap[2];
    AllSameFunction all_same[2];
};

}  // namespace ov_gather
