#include "scatter_rows.hpp"

#include <algorithm>
#include <cstring>

#include "platform.hpp"
#include "threads.hpp"

namespace ov_gather {
namespace {

constexpr int64_t grain = 1 << 14;         // so many elements of updates are worth another thread
constexpr int64_t shortest_piece = 256;    // bytes of a row that are worth a thread of their own
constexpr int64_t bytes_in_flight = 4096;  // so many bytes of rows are fetched before they are needed
constexpr int64_t rows_in_flight = 16;     // at most

inline void prefetch(const char* from, int64_t bytes) {
    for (int64_t at = 0; at < bytes && at < bytes_in_flight; at += 64) fetch(from + at);
}

int64_t rows_ahead(int64_t bytes) { return std::clamp<int64_t>(bytes_in_flight / bytes, 1, rows_in_flight); }

// A thread updates these rows of the output in these columns. No two threads have a place in common, and each makes all updates
// of its own places in order.
struct Part {
    Range rows, columns;
};

template <typename Element, typename Reduce>
void scatter_part(const ScatterRows& scatter, const int64_t* rows, const char* updates, char* output, const Part& part) {
    const int64_t width = part.columns.size(), stride = scatter.row_size, bytes = width * sizeof(Element);
    const int64_t ahead = rows_ahead(bytes);
    const auto is_here = [&](int64_t row) {
        return static_cast<uint64_t>(row - part.rows.begin()) < static_cast<uint64_t>(part.rows.size());
    };
    const auto* from = reinterpret_cast<const Element*>(updates) + part.columns.begin();
    auto* const to = reinterpret_cast<Element*>(output) + part.columns.begin();
    for (int64_t i = 0; i < scatter.updates; ++i, from += scatter.width) {
        if (i + ahead < scatter.updates && is_here(rows[i + ahead]))
            prefetch(reinterpret_cast<const char*>(to + rows[i + ahead] * stride), bytes);
        if (!is_here(rows[i])) continue;
        Element* const row = to + rows[i] * stride;
        if constexpr (std::is_same_v<Reduce, Replace>)
            std::memcpy(row, from, bytes);
        else
            for (int64_t column = 0; column < width; ++column) row[column] = Reduce::apply(row[column], from[column]);
    }
}

Range share(int64_t size, int64_t part, int64_t parts) { return {size * part / parts, size * (part + 1) / parts}; }

}  // namespace

void scatter_rows(const ScatterRows& scatter, const int64_t* rows, const char* data, const char* updates, char* output) {
    const int64_t width = scatter.width * scatter.element_size;
    if (data != output) copy_in_parallel(data, output, scatter.rows * scatter.row_size * scatter.element_size);
    if (scatter.updates == 0 || width == 0) return;  // The address of nothing may be null.
    const auto function =
        with_element_type(scatter.kind, scatter.element_size, scatter.reduction,
                          [](auto element, auto reduce) { return scatter_part<decltype(element), decltype(reduce)>; });
    // Each part looks at all updates, so that there are no more parts than threads.
    const int64_t parts = std::clamp<int64_t>(scatter.updates * scatter.width / grain, 1, thread_count());
    const Range all_rows(0, scatter.rows), all_columns(0, scatter.width);
    const bool by_columns = width >= parts * shortest_piece;
    in_parallel(parts, 1, [&](const Range& range) {
        for (int64_t i = range.begin(); i < range.end(); ++i) {
            const Part part =
                by_columns ? Part{all_rows, share(scatter.width, i, parts)} : Part{share(scatter.rows, i, parts), all_columns};
            function(scatter, rows, updates, output, part);
        }
    });
}

}  // namespace ov_gather
