// Rows of the output are updated one after the other. That is ScatterND, where each tuple of coordinates names a row, and
// ScatterElements where one index names all of a row. Updates of one row are made in order, on any number of threads.
#pragma once

#include <cstdint>

#include "reductions.hpp"

namespace ov_gather {

struct ScatterRows {
    int64_t updates;   // how many rows are updated
    int64_t rows;      // of the output
    int64_t row_size;  // elements of a row
    int64_t width;     // so many elements of a row, the first, are updated; updates have no others
    Reduction reduction;
    char kind;  // the kind of elements: 'f', 'i', 'u' or 'c'
    int64_t element_size;
};

// `rows` says which row of the output each update goes to; they are in bounds. All memory is contiguous. Data may be the output
// itself.
void scatter_rows(const ScatterRows& scatter, const int64_t* rows, const char* data, const char* updates, char* output);

}  // namespace ov_gather
