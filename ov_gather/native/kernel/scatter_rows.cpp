#include "scatter_rows.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "platform.hpp"
#include "threads.hpp"

namespace ov_gather {
namespace {

constexpr int64_t grain = 1 << 14;         // elements of updates per thread at least
constexpr int64_t shortest_piece = 1024;   // bytes per row and thread at least, if threads share columns
constexpr int64_t bytes_in_flight = 4096;  // bytes of rows prefetched
constexpr int64_t rows_in_flight = 16;     // at most
constexpr int64_t block = 1 << 20;         // elements of updates between two checks for an interrupt

inline void prefetch(const char* from, int64_t bytes) {
    for (int64_t at = 0; at < bytes && at < bytes_in_flight; at += 64) fetch(from + at);
}

int64_t rows_ahead(int64_t bytes) { return std::clamp<int64_t>(bytes_in_flight / bytes, 1, rows_in_flight); }

// The rows and columns of the output that one thread updates. Parts are disjoint, and each is updated in order by its thread.
struct Part {
    Range rows, columns;
};

// Find the updates in a range that go to the rows `of`, in order; return their number.
int64_t find_updates(Range updates, const int64_t* rows, Range of, int64_t* found) {
    int64_t count = 0;
    for (int64_t i = updates.begin(); i < updates.end(); ++i) {
        found[count] = i;
        count += static_cast<uint64_t>(rows[i] - of.begin()) < static_cast<uint64_t>(of.size());
    }
    return count;
}

template <typename Element, typename Reduce>
void scatter_part(const ScatterRows& scatter, const int64_t* rows, const char* updates, char* output, const Part& part) {
    const int64_t width = part.columns.size(), bytes = width * sizeof(Element), ahead = rows_ahead(bytes);
    const auto update_of = [&](int64_t i) {
        return reinterpret_cast<const Element*>(updates) + i * scatter.width + part.columns.begin();
    };
    const auto row_of = [&](int64_t i) {
        return reinterpret_cast<Element*>(output) + rows[i] * scatter.row_size + part.columns.begin();
    };
    const int64_t step = std::min(scatter.updates, std::clamp<int64_t>(block / width, 64, 1 << 14));
    std::vector<int64_t> own(step);
    for (int64_t first = 0; first < scatter.updates; first += step) {
        if (first != 0) check_interrupt();
        const int64_t count = find_updates({first, std::min(first + step, scatter.updates)}, rows, part.rows, own.data());
        for (int64_t k = 0; k < count; ++k) {
            if (k + ahead < count) {
                prefetch(reinterpret_cast<const char*>(row_of(own[k + ahead])), bytes);
                prefetch(reinterpret_cast<const char*>(update_of(own[k + ahead])), bytes);
            }
            Element* const row = row_of(own[k]);
            const Element* const from = update_of(own[k]);
            if constexpr (std::is_same_v<Reduce, Replace>)
                std::memcpy(row, from, bytes);
            else
                for (int64_t column = 0; column < width; ++column) row[column] = Reduce::apply(row[column], from[column]);
        }
    }
}

Range share(int64_t size, int64_t part, int64_t parts) { return {size * part / parts, size * (part + 1) / parts}; }

}  // namespace

void scatter_rows(const ScatterRows& scatter, const int64_t* rows, const char* data, const char* updates, char* output) {
    const int64_t width = scatter.width * scatter.element_size;
    if (data != output) copy_in_parallel(data, output, scatter.rows * scatter.row_size * scatter.element_size);
    if (scatter.updates == 0 || width == 0) return;  // the addresses may be null
    const auto function =
        with_element_type(scatter.kind, scatter.element_size, scatter.reduction,
                          [](auto element, auto reduce) { return scatter_part<decltype(element), decltype(reduce)>; });
    // Each part scans all updates, so there are no more parts than threads.
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
