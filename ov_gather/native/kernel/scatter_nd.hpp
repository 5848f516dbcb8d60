// In ScatterND each tuple of coordinates names a row of the output, which is updated, as in ONNX ScatterND-18. Updates of one
// row are made in the order of the tuples, on any number of threads.
#pragma once

#include <cstdint>

#include "reductions.hpp"

namespace ov_gather {

struct ScatterND {
    int64_t updates;   // how many rows are updated, one after the other
    int64_t rows;      // of the output
    int64_t row_size;  // elements of a row
    Reduction reduction;
    char kind;  // the kind of elements: 'f', 'i', 'u' or 'c'
    int64_t element_size;
};

// `rows` says which row of the output each update goes to; `flatten_tuples` has checked them. All memory is contiguous.
void scatter_nd(const ScatterND& scatter, const int64_t* rows, const char* updates, char* output);

}  // namespace ov_gather
