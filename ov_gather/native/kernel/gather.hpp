// GatherElements on strided arrays gives out[p] = data[p with its axis coordinate replaced by indices[p]], for every position p
// of indices. ONNX GatherElements-13: negative indices count from the end, indices may be smaller than data off the axis.
// This depends on nothing but TBB.
#pragma once

#include <cstdint>
#include <vector>

#include "lines.hpp"

namespace ov_gather {

enum class IndexType { int32, int64 };

struct Gather {
    std::vector<Loop> loops;  // the outermost comes first
    int64_t axis_size;
    int64_t axis_stride;
    int64_t element_size;  // 1, 2, 4, 8 or 16
    IndexType index_type;
    bool zero = false;  // an index out of bounds yields zeros instead of ending the run
};

constexpr int64_t all_in_bounds = -1;

// Returns all_in_bounds, or the first position (row-major in indices) whose index is out of bounds: the same one whatever the
// number of threads. Nothing out of bounds is read; the output is then partly written. Where another thread changes indices
// meanwhile, the index at that position may be in bounds again.
int64_t gather_elements(const Gather& gather, const char* data, const char* indices, char* output);

// Checks indices as gather_elements does, but gathers nothing: an index may be out of bounds even where nothing is gathered.
int64_t first_out_of_bounds(const Gather& gather, const char* indices);

}  // namespace ov_gather
