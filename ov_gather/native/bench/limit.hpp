// Speed limits of a gather or scatter: the same memory accesses with precomputed offsets, without checks. `bench` measures each
// way to load and store, and takes the fastest.
#pragma once

#include <cstdint>

#include "limit_lines.hpp"

namespace ov_gather {

// An array of `batches` matrices with `rows` rows of `width` units or elements. A step of work is one piece of all rows of a
// matrix. Offsets are stored in the order of the work. The last piece of a row may be shorter only if `lines` is 1.
struct Steps {
    int64_t batches, rows, lines, width, piece;

    int64_t pieces() const { return (width + piece - 1) / piece; }
};

struct GatherLimit {
    const char* data;
    const int32_t* offsets;
    char* output;
    int64_t unit;  // bytes copied per offset
    Steps steps;   // `lines` counts lines of the output
    bool packed;   // copy a piece of all rows first; offsets are relative to the copy
    Loads loads;
    bool streamed;
};

// `line` counts the units of updates in each piece.
struct ScatterLimit {
    const float* data;
    const int32_t* offsets;
    const float* updates;
    float* output;
    int64_t unit;  // elements updated per offset
    Steps steps;   // `lines` counts lines of updates, `rows` rows of data
    int64_t line;
    bool fetched, adds;
};

// Return true if this machine supports a way to load units of `unit` bytes.
bool can_load(Loads loads, int64_t unit);

void run(const GatherLimit& limit);
void run(const ScatterLimit& limit);

}  // namespace ov_gather
