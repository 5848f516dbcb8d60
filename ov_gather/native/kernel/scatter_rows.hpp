// Scatter of rows: ScatterND, whose tuples name rows, and ScatterElements with one index per row. Updates of one row are
// applied in order, on any number of threads. If long rows exceed the near caches, updates are sorted by row.
#pragma once

#include <cstdint>

#include "reductions.hpp"

namespace ov_gather {

struct ScatterRows {
    int64_t updates;   // number of updated rows, with repetitions
    int64_t rows;      // number of output rows
    int64_t row_size;  // elements per output row
    int64_t width;     // elements per update, at the start of a row
    Reduction reduction;
    char kind;  // NumPy's kind of the elements: 'f', 'i', 'u' or 'c'
    int64_t element_size;
};

// Apply all updates. `rows` holds the output row of each, in bounds. All memory is contiguous. Data may be the output.
void scatter_rows(const ScatterRows& scatter, const int64_t* rows, const char* data, const char* updates, char* output);

}  // namespace ov_gather
