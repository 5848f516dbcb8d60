#include "row_indices.hpp"

#include <algorithm>
#include <atomic>

#include "isa.hpp"
#include "loops.hpp"

namespace ov_gather {
namespace {

constexpr int64_t grain = 1 << 12;        // indices per thread at least
constexpr int64_t bytes_ahead = 1 << 12;  // prefetch distance of indices in bytes; hardware stops at the end of a page

// Return the loops over rows of updates, in memory order of updates. The loop along the axis has output_stride 0, because the
// index determines the output row.
std::vector<ScatterLoop> loops_over_rows(const Scatter& scatter) {
    std::vector<ScatterLoop> loops(scatter.loops, &last_loop(scatter));
    const ScatterLoop& axis = scatter.axis;
    if (axis.size != 1) loops.push_back({axis.size, axis.index_stride, axis.update_stride, 0});
    std::sort(loops.begin(), loops.end(),
              [](const ScatterLoop& a, const ScatterLoop& b) { return a.update_stride > b.update_stride; });
    return loops;
}

AllSameFunction same_function(const Scatter& scatter) { return line_functions().all_same[scatter.index_size == 8]; }

// Return true if the indices of the first row are equal. Most scatters of elements end here.
bool is_first_same(const Scatter& scatter, const char* indices) {
    const ScatterLoop& line = last_loop(scatter);
    if (line.size <= 1 || scatter.axis.size == 0 || scatter.elements == 0) return false;
    if (line.index_stride == 0) return true;
    return line.index_stride == scatter.index_size && same_function(scatter)(indices, line.size);
}

// Return the bytes between rows of the output; 0 if the updates are not contiguous rows.
int64_t bytes_of_rows(const Scatter& scatter, const std::vector<ScatterLoop>& loops) {
    const ScatterLoop& line = last_loop(scatter);
    const int64_t size = scatter.element_size, width = line.size * size;
    if (line.update_stride != size || line.output_stride != size) return 0;
    int64_t bytes = scatter.axis.output_stride, update_stride = width;
    for (auto loop = loops.rbegin(); loop != loops.rend(); update_stride *= loop->size, ++loop) {
        if (loop->update_stride != update_stride) return 0;
        if (loop->output_stride != 0) bytes = std::min(bytes, loop->output_stride);
    }
    if (bytes <= 0) return 0;
    const bool fits =
        std::all_of(loops.begin(), loops.end(), [&](const auto& loop) { return loop.output_stride % bytes == 0; });
    return fits && bytes >= width && scatter.axis.output_stride % bytes == 0 ? bytes : 0;
}

template <typename Index>
RowIndices find(const Threads& threads, const Scatter& scatter, const char* indices, const std::vector<ScatterLoop>& loops,
                int64_t bytes, std::vector<int64_t>& rows) {
    const ScatterLoop& line = last_loop(scatter);
    const auto all_same = line.index_stride == 0 ? nullptr : same_function(scatter);
    const int64_t count = count_positions(loops);
    rows.resize(count);
    const int64_t axis_step = scatter.axis.output_stride / bytes;
    std::atomic<RowIndices> result{RowIndices::found};
    threads.in_parallel(count, std::max<int64_t>(1, grain / (all_same ? line.size : 1)), [&](const Range& range) {
        for (int64_t row = range.begin(); row < range.end() && result.load(std::memory_order_relaxed) == RowIndices::found;
             ++row) {
            const char* at = indices;
            int64_t output = 0, left = row;
            for (size_t level = loops.size(); level-- > 0; left /= loops[level].size) {
                const int64_t step = level == 0 ? left : left % loops[level].size;
                at += step * loops[level].index_stride;
                output += step * loops[level].output_stride;
            }
            for (int64_t k = 0; k < line.size * line.index_stride; k += 64) fetch(at + bytes_ahead + k);
            if (all_same && !all_same(at, line.size)) result = RowIndices::differ;
            int64_t index = read_once<Index>(at);
            if (!wrap_index(index, scatter.axis_size)) {
                RowIndices found = RowIndices::found;
                result.compare_exchange_strong(found, RowIndices::out_of_bounds);
                continue;
            }
            rows[row] = output / bytes + index * axis_step;
        }
    });
    return result;
}

}  // namespace

RowIndices find_rows(const Threads& threads, const Scatter& scatter, const char* indices, ScatterRows& by_rows,
                     std::vector<int64_t>& rows) {
    const ScatterLoop& line = last_loop(scatter);
    if (count_positions(loops_of(scatter)) == 0 || !is_first_same(scatter, indices)) return RowIndices::differ;
    const std::vector<ScatterLoop> loops = loops_over_rows(scatter);
    const int64_t bytes = bytes_of_rows(scatter, loops);
    if (bytes == 0) return RowIndices::differ;
    const int64_t row_size = bytes / scatter.element_size;
    const RowIndices result = scatter.index_size == 4 ? find<int32_t>(threads, scatter, indices, loops, bytes, rows)
                                                      : find<int64_t>(threads, scatter, indices, loops, bytes, rows);
    by_rows = {static_cast<int64_t>(rows.size()),
               scatter.elements / row_size,
               row_size,
               line.size,
               scatter.element_size,
               scatter.reduction,
               scatter.kind};
    return result;
}

}  // namespace ov_gather
