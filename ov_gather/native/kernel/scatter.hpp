// In ScatterElements output[p with its axis coordinate replaced by indices[p]] gets updates[p], for every position p of
// indices, as in ONNX ScatterElements-18. Updates of one element are made in the order of indices, on any number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "gather.hpp"
#include "reductions.hpp"

namespace ov_gather {

// A ScatterLoop runs over positions of indices. Strides are in bytes; along the axis an index counts in output_stride.
struct ScatterLoop {
    int64_t size;
    int64_t index_stride;
    int64_t update_stride;
    int64_t output_stride;
};

struct Scatter {
    std::vector<ScatterLoop> loops;  // off the axis, the outermost first
    ScatterLoop axis;
    int64_t axis_size;  // the size of the output along the axis
    IndexType index_type;
    Reduction reduction;
    int64_t elements;  // of the output
    char kind;         // the kind of elements: 'f', 'i', 'u' or 'c'
    int64_t element_size;
};

// Data and output are contiguous, and may be the same. Returns false if an index is out of bounds: the output is then
// partly written, but nothing outside of it.
bool scatter_elements(const Scatter& scatter, const char* data, const char* indices, const char* updates, char* output);

}  // namespace ov_gather
