#include "scatter_nd.hpp"

#include <algorithm>
#include <cstring>

#include "platform.hpp"
#include "threads.hpp"

namespace ov_gather {
namespace {

constexpr int64_t grain = 1 << 14;        // so many elements of updates are worth another thread
constexpr int64_t shortest_piece = 1024;  // bytes of a row that are worth a thread of their own

// A thread updates these rows of the output in these columns. No two threads have a place in common, and each makes all updates
// of its own places in order.
struct Part {
    Range rows, columns;
};

template <typename Element, typename Reduce>
void scatter_part(const ScatterND& scatter, const int64_t* rows, const char* updates, char* output, const Part& part) {
    const int64_t width = part.columns.size(), stride = scatter.row_size;
    const uint64_t part_rows = part.rows.size();
    const auto* from = reinterpret_cast<const Element*>(updates) + part.columns.begin();
    auto* const to = reinterpret_cast<Element*>(output) + part.columns.begin();
    for (int64_t i = 0; i < scatter.updates; ++i, from += stride) {
        if (static_cast<uint64_t>(rows[i] - part.rows.begin()) >= part_rows) continue;
        Element* const row = to + rows[i] * stride;
        if constexpr (std::is_same_v<Reduce, Replace>)
            std::memcpy(row, from, width * sizeof(Element));
        else
            for (int64_t column = 0; column < width; ++column) row[column] = Reduce::apply(row[column], from[column]);
    }
}

Range share(int64_t size, int64_t part, int64_t parts) { return {size * part / parts, size * (part + 1) / parts}; }

}  // namespace

void scatter_nd(const ScatterND& scatter, const int64_t* rows, const char* updates, char* output) {
    if (scatter.updates == 0 || scatter.row_size == 0) return;  // The address of nothing may be null.
    const auto function =
        with_element_type(scatter.kind, scatter.element_size, scatter.reduction,
                          [](auto element, auto reduce) { return scatter_part<decltype(element), decltype(reduce)>; });
    // Each part looks at all tuples, so that there are no more parts than cores.
    const int64_t parts = std::clamp<int64_t>(scatter.updates * scatter.row_size / grain, 1, available_cores());
    const Range all_rows(0, scatter.rows), all_columns(0, scatter.row_size);
    const bool by_columns = scatter.row_size * scatter.element_size >= parts * shortest_piece;
    in_parallel(parts, 1, [&](const Range& range) {
        for (int64_t i = range.begin(); i < range.end(); ++i) {
            const Part part = by_columns ? Part{all_rows, share(scatter.row_size, i, parts)}
                                         : Part{share(scatter.rows, i, parts), all_columns};
            function(scatter, rows, updates, output, part);
        }
    });
}

}  // namespace ov_gather
