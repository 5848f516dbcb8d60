// GatherElements (ONNX GatherElements-13) on strided arrays: an output element is data's at the same position, but at the index
// along the axis. Indices may be smaller than data off the axis. The naive loop, for matrices and axis 1:
//
//     for (int64_t row = 0; row < rows; ++row)
//         for (int64_t i = 0; i < count; ++i) {
//             int64_t index = indices[row][i];
//             if (index < 0) index += axis_size;  // counts from the end
//             if (index < 0 || index >= axis_size) return row * count + i;  // out of bounds
//             output[row][i] = data[row][index];
//         }
//
// The kernel computes the same. What it does differently, and why:
// - Any rank is reduced to few long loops (gather.cpp), which run over lines such as the inner loop above (lines.cpp).
// - A block of indices is checked and wrapped without branches, then used. Both steps vectorize, and no index can be changed by
//   another thread between its check and its use (line_indices.hpp, line_blocks.hpp).
// - Elements outside the near caches are prefetched by index, since no hardware prefetcher can predict them, and large outputs
//   are streamed around the caches.
// - If the axis is not the last, each element lies in another cache line. Columns of rows are packed or split (gather.cpp).
// - Lines of one index are copied whole (line_slices.hpp), and short lines share a block (short_lines.hpp).
// - Inner loops are compiled per instruction set and chosen at run time; gather instructions are used where they pay (isa.cpp).
// - Threads share the positions. The position to report is found again in order, so that it does not depend on their number.
//
// The kernel needs the C++ standard library and the system only. Its user provides the threads (threads.hpp).
#pragma once

#include "ov_gather_kernel.h"
#include "threads.hpp"

namespace ov_gather {

using Gather = ov_gather_elements_arguments;

// Gather all elements; return ov_gather_done, or the first position (row-major in indices) whose index is out of bounds. The
// output is partly written then. If another thread changes indices meanwhile, the index at the returned position may be in
// bounds again.
int64_t gather_elements(const Threads& threads, const Gather& gather, const char* data, const char* indices, char* output);

int64_t first_out_of_bounds(const Threads& threads, const Gather& gather, const char* indices);

}  // namespace ov_gather
