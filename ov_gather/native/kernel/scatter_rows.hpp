// Scatter of rows: ScatterND, whose tuples name rows, and ScatterElements with one index per row. Updates of one row are
// applied in order, on any number of threads. If long rows exceed the near caches, updates are sorted by row.
#pragma once

#include "reductions.hpp"
#include "threads.hpp"

namespace ov_gather {

using ScatterRows = ov_gather_rows_arguments;

// Apply all updates. `rows` holds the output row of each, in bounds. All memory is contiguous. Data may be the output.
void scatter_rows(const Threads& threads, const ScatterRows& scatter, const int64_t* rows, const char* data,
                  const char* updates, char* output);

}  // namespace ov_gather
