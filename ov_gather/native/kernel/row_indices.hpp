// Scatters of elements whose indices are equal within each row, as expanded indices are: they update whole rows.
#pragma once

#include <vector>

#include "scatter.hpp"
#include "scatter_rows.hpp"

namespace ov_gather {

enum class RowIndices { differ, out_of_bounds, found };

// Find the output row of each row of updates. Return `found`, with the arguments of scatter_rows in `rows` and `by_rows`, if
// the indices of each row are equal and in bounds, and the updates contiguous. The loops of the scatter must be merged.
RowIndices find_rows(const Threads& threads, const Scatter& scatter, const char* indices, ScatterRows& by_rows,
                     std::vector<int64_t>& rows);

}  // namespace ov_gather
