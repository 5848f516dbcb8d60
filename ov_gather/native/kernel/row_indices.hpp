// In many scatters of elements one index names all of a row, as where it is expanded along the row. These update whole rows.
#pragma once

#include <vector>

#include "scatter.hpp"
#include "scatter_rows.hpp"

namespace ov_gather {

enum class RowIndices { differ, out_of_bounds, found };

// Finds out which row of the output each row of updates goes to. The loops of the scatter are merged. Where all indices of each
// row are the same and in bounds, and updates are contiguous, `rows` and `by_rows` get what `scatter_rows` takes.
RowIndices find_rows(const Scatter& scatter, const char* indices, ScatterRows& by_rows, std::vector<int64_t>& rows);

}  // namespace ov_gather
