// ScatterElements: output[p with its axis coordinate replaced by indices[p]] gets updates[p], for every position p of indices.
// ONNX ScatterElements-18. Deterministic: of several updates of one element, the one that comes later in indices comes later.
#pragma once

#include <cstdint>
#include <vector>

#include "gather.hpp"

namespace ov_gather {

enum class Reduction { none, sum, prod, min, max };

// One loop over the positions of indices. Strides in bytes; along the axis, output_stride is what one index steps.
struct ScatterLoop {
    int64_t size;
    int64_t index_stride;
    int64_t update_stride;
    int64_t output_stride;
};

struct Scatter {
    std::vector<ScatterLoop> loops;  // off the axis, outermost first, at least one
    ScatterLoop axis;
    int64_t axis_size;  // of the output
    IndexType index_type;
    Reduction reduction;
    char kind;  // of the elements, as NumPy names it: 'f', 'i' or 'u'; of no account where nothing is reduced
    int64_t element_size;
};

// False if an index is out of bounds: the output is then partly written, never outside.
bool scatter_elements(const Scatter& scatter, const char* indices, const char* updates, char* output);

}  // namespace ov_gather
