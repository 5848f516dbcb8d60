// Gather of slices as a gather of elements: the index is constant along the dimensions of a slice.
#pragma once

#include <cstdint>
#include <vector>

#include "ov_gather_kernel.h"

namespace ov_gather {

// Return the loops over an output of this shape. Indices step only along their own dimensions: the first `batch`, and the `own`
// ones that replace data's axis. Strides are in bytes.
template <typename Shape, typename Strides>
std::vector<ov_gather_loop> slice_loops(const Shape& shape, size_t rank, size_t own, size_t axis, size_t batch,
                                        const Strides& data, const Strides& indices, const Strides& output) {
    std::vector<ov_gather_loop> loops;
    loops.reserve(rank);
    for (size_t at = 0; at < rank; ++at) {
        const bool named = axis <= at && at < axis + own;
        const int64_t index_stride = at < batch ? indices[at] : named ? indices[at - axis + batch] : 0;
        const int64_t data_stride = at < axis ? data[at] : named ? 0 : data[at - own + 1];
        loops.push_back({static_cast<int64_t>(shape[at]), index_stride, data_stride, static_cast<int64_t>(output[at])});
    }
    return loops;
}

}  // namespace ov_gather
