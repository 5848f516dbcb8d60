// The limit of a gather or a scatter: the same memory is read and written in the same places, with offsets that are ready, and
// without any check. Of the ways to do that, whoever measures takes the fastest.
#pragma once

#include <cstdint>

#include "limit_lines.hpp"

namespace ov_gather {

// An array is `batches` matrices of so many rows, and of `width` units or elements in a row. One piece of all rows of a matrix
// is one step of work. Offsets stand in the order of the work; the last piece of a row may be shorter only where there is one
// line.
struct Steps {
    int64_t batches, rows, lines, width, piece;

    int64_t pieces() const { return (width + piece - 1) / piece; }
};

struct GatherLimit {
    const char* data;
    const int32_t* offsets;
    char* output;
    int64_t unit;  // bytes
    Steps steps;   // `lines` are those of the output
    bool packed;   // a piece of all rows is copied first, and offsets are those in the copy
    Loads loads;
    bool streamed;
};

// `line` counts the units of updates in each piece.
struct ScatterLimit {
    const float* data;
    const int32_t* offsets;
    const float* updates;
    float* output;
    int64_t unit;  // elements
    Steps steps;   // `lines` are those of updates, `rows` those of data
    int64_t line;
    bool fetched, adds;
};

// Tells whether there is such a way to load units of so many bytes on this machine.
bool can_load(Loads loads, int64_t unit);

void run(const GatherLimit& limit);
void run(const ScatterLimit& limit);

}  // namespace ov_gather
