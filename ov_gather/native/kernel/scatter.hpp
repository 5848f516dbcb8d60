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

#include "reductions.hpp"
#include "threads.hpp"

namespace ov_gather {

using ScatterLoop = ov_gather_scatter_loop;
using Scatter = ov_gather_scatter_arguments;

// Apply all updates. Data and output are contiguous, and may be the same. Return false if an index is out of bounds: the output
// is then partly written.
bool scatter_elements(const Threads& threads, const Scatter& scatter, const char* data, const char* indices,
                      const char* updates, char* output);

// Return the innermost loop off the axis.
inline const ScatterLoop& last_loop(const Scatter& scatter) { return scatter.loops[scatter.loop_count - 1]; }

}  // namespace ov_gather
