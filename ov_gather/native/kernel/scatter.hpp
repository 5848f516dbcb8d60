// ScatterElements (ONNX ScatterElements-18): each update is written to the output at its own position, except that its
// coordinate along the axis is the index. The naive loop, for matrices and axis 1, on an output that is a copy of data:
//
//     for (int64_t row = 0; row < rows; ++row)
//         for (int64_t i = 0; i < count; ++i)
//             output[row][checked(indices[row][i])] = updates[row][i];  // or reduced with the element there
//
// Updates of one element are applied in the order of indices, on any number of threads: no two threads update the same element.
// What the kernel does differently, and why:
// - Indices are checked and wrapped a block at a time, as in a gather (line_indices.hpp).
// - Rows with one index each are moved whole (row_indices.cpp, scatter_rows.cpp).
// - If the axis is not the last, neighbours off the axis are updated together, since they share cache lines. Columns of rows
//   are packed into a buffer if the rows exceed the near caches.
// - If there are many indices, or the axis is the last, elements are copied just before their update, so that each is moved
// once.
//   Short lines are updated many at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "gather.hpp"
#include "reductions.hpp"

namespace ov_gather {

// A loop over positions of indices. Strides are in bytes; along the axis, output_stride is the step per index.
struct ScatterLoop {
    int64_t size;
    int64_t index_stride;
    int64_t update_stride;
    int64_t output_stride;
};

struct Scatter {
    std::vector<ScatterLoop> loops;  // off the axis, outermost first
    ScatterLoop axis;
    int64_t axis_size;  // size of the output along the axis
    IndexType index_type;
    Reduction reduction;
    int64_t elements;  // number of output elements
    char kind;         // NumPy's kind of the elements: 'f', 'i', 'u' or 'c'
    int64_t element_size;
};

// Apply all updates. Data and output are contiguous, and may be the same. Return false if an index is out of bounds: the output
// is then partly written, but nothing outside of it.
bool scatter_elements(const Scatter& scatter, const char* data, const char* indices, const char* updates, char* output);

}  // namespace ov_gather
