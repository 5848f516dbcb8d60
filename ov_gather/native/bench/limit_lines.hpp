// The innermost loops of the limits. They are compiled once for each instruction set, as lines.cpp of the kernel is.
#pragma once

#include <stdint.h>

namespace ov_gather {

// How units are loaded: as they come, fetched before, fetched in two stages, or by gather instructions.
enum Loads { plain, fetched, fetched_twice, vectors };
constexpr int all_loads = 4;

// Takes `count` units of `unit` bytes. Offsets are numbers of units.
using Take = void (*)(const char* data, const int32_t* offsets, char* output, int64_t count, int64_t unit);

// Puts, or adds, `count` units of `unit` elements. Offsets are numbers of elements.
using Put = void (*)(const float* updates, const int32_t* offsets, float* output, int64_t count, int64_t unit);

constexpr int slices = 5;  // stands behind the logarithms of the sizes 1 to 16

struct LimitLines {
    Take take[all_loads][2][slices + 1];  // by Loads, by whether the output is written around the caches, by size; may be null
    Put put[2][2];                        // by whether places are fetched before, by whether updates are added
};

}  // namespace ov_gather
