// The innermost loops of the limits, compiled once per instruction set, as lines.cpp of the kernel is.
#pragma once

#include <stdint.h>

namespace ov_gather {

// Ways to load units: without prefetching, with one or two prefetch stages, or by gather instructions.
enum Loads { plain, fetched, fetched_twice, vectors };
constexpr int all_loads = 4;

// Copy `count` units of `unit` bytes. Offsets count units.
using Take = void (*)(const char* data, const int32_t* offsets, char* output, int64_t count, int64_t unit);

// Assign or add `count` units of `unit` elements. Offsets count elements.
using Put = void (*)(const float* updates, const int32_t* offsets, float* output, int64_t count, int64_t unit);

constexpr int slices = 5;  // index of slices in `take`, after log2 of the unit sizes 1 to 16

struct LimitLines {
    Take take[all_loads][2][slices + 1];  // by Loads, streamed or not, size; may be null
    Put put[2][2];                        // prefetched or not, added or not
};

}  // namespace ov_gather
