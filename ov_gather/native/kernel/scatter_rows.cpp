#include "scatter_rows.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "caches.hpp"
#include "platform.hpp"

namespace ov_gather {
namespace {

constexpr int64_t grain = 1 << 14;         // elements of updates per thread at least
constexpr int64_t shortest_piece = 1024;   // bytes per row and thread at least, if threads share columns
constexpr int64_t bytes_in_flight = 4096;  // bytes of rows prefetched
constexpr int64_t rows_in_flight = 16;     // at most
constexpr int64_t block = 1 << 20;         // elements of updates between two checks for an interrupt
constexpr int64_t sorted_row = 512;        // bytes of the shortest rows whose updates are sorted; 256 gain nothing on Xeon

OV_GATHER_INLINE void prefetch(const char* from, int64_t bytes) {
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

using PartFunction = void (*)(const Threads&, const ScatterRows&, const int64_t* rows, const char* updates, char* output,
                              const Part&);

// Apply the part's updates in order; the output holds a copy of data.
template <typename Element, typename Reduce>
void scatter_part(const Threads& threads, const ScatterRows& scatter, const int64_t* rows, const char* updates, char* output,
                  const Part& part) {
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
        if (first != 0) threads.check_interrupt();
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

// Updates grouped by row, in order: those of the row `first + r` are sorted[starts[r]] up to sorted[starts[r + 1] - 1].
struct SortedUpdates {
    std::vector<int64_t> starts, sorted;
};

// Sort the updates of the rows `of` by counting.
SortedUpdates sort_updates(const ScatterRows& scatter, const int64_t* rows, Range of) {
    std::vector<int64_t> own(scatter.updates + 1);  // find_updates writes one more
    const int64_t count = find_updates({0, scatter.updates}, rows, of, own.data());
    SortedUpdates result{std::vector<int64_t>(of.size() + 2), std::vector<int64_t>(count)};
    int64_t* const next = result.starts.data() + 1;  // where the next update of a row goes; starts[r + 1] in the end
    for (int64_t k = 0; k < count; ++k) ++next[rows[own[k]] - of.begin() + 1];
    for (int64_t r = 1; r <= of.size(); ++r) next[r] += next[r - 1];
    for (int64_t k = 0; k < count; ++k) result.sorted[next[rows[own[k]] - of.begin()]++] = own[k];
    return result;
}

// Write `count` elements of `before` with one or two updates to a row, which may be `before`.
template <typename Element, typename Reduce>
void combine(char* row, const char* before, const char* first, const char* second, int64_t count) {
    auto* const to = reinterpret_cast<Element*>(row);
    const auto* const from = reinterpret_cast<const Element*>(before);
    const auto *const one = reinterpret_cast<const Element*>(first), *const two = reinterpret_cast<const Element*>(second);
    if (two == nullptr)
        for (int64_t k = 0; k < count; ++k) to[k] = Reduce::apply(from[k], one[k]);
    else
        for (int64_t k = 0; k < count; ++k) to[k] = Reduce::apply(Reduce::apply(from[k], one[k]), two[k]);
}

// The loops of one element type and reduction.
struct Loops {
    PartFunction scatter_part;
    void (*combine)(char* row, const char* before, const char* first, const char* second, int64_t count);
};

// Write each of the part's rows once: its data with all of its updates, which are read in the order of rows.
void scatter_sorted(const Threads& threads, const ScatterRows& scatter, const Loops& loops, const int64_t* rows,
                    const char* data, const char* updates, char* output, Range of) {
    const int64_t width = scatter.width, bytes = width * scatter.element_size, ahead = rows_ahead(bytes);
    const auto [starts, sorted] = sort_updates(scatter, rows, of);
    const int64_t count = sorted.size();
    const auto update_at = [&, order = sorted.data()](int64_t k) {
        if (k + ahead < count) prefetch(updates + order[k + ahead] * bytes, bytes);
        return updates + order[k] * bytes;
    };
    int64_t left = block;
    for (int64_t r = 0; r < of.size(); ++r) {
        int64_t k = starts[r];
        const int64_t end = starts[r + 1], at = (of.begin() + r) * bytes;
        if ((left -= (end - k + 1) * width) < 0) {
            threads.check_interrupt();
            left = block;
        }
        const char* before = data + at;
        char* const row = output + at;
        if (k == end || scatter.reduction == ov_gather_replace) {
            const char* const last = k == end ? before : update_at(end - 1);
            if (last != row) std::memcpy(row, last, bytes);
            continue;
        }
        for (; k < end; k += 2, before = row) {  // two updates at once, to load and store the row half as often
            const char* const first = update_at(k);
            loops.combine(row, before, first, k + 1 < end ? update_at(k + 1) : nullptr, width);
        }
    }
}

Range share(int64_t size, int64_t part, int64_t parts) { return {size * part / parts, size * (part + 1) / parts}; }

}  // namespace

void scatter_rows(const Threads& threads, const ScatterRows& scatter, const int64_t* rows, const char* data,
                  const char* updates, char* output) {
    const int64_t width = scatter.width * scatter.element_size;
    const int64_t all_bytes = scatter.rows * scatter.row_size * scatter.element_size;
    // Updates are sorted if the output exceeds the near caches, and its rows would else be fetched for each update anew.
    const bool sorts = scatter.width == scatter.row_size && width >= sorted_row && all_bytes > near_cache() &&
                       scatter.updates > scatter.rows / 4;
    if (data != output && !sorts) threads.copy(data, output, all_bytes);
    if (scatter.updates == 0 || width == 0) return;  // the addresses may be null
    const Loops loops = with_element_type(scatter.kind, scatter.element_size, scatter.reduction, [](auto element, auto reduce) {
        using Element = decltype(element);
        using Reduce = decltype(reduce);
        return Loops{scatter_part<Element, Reduce>, combine<Element, Reduce>};
    });
    // Each part scans all updates, so there are no more parts than threads.
    const int64_t parts = std::clamp<int64_t>(scatter.updates * scatter.width / grain, 1, threads.count());
    const Range all_rows(0, scatter.rows), all_columns(0, scatter.width);
    const bool by_columns = !sorts && width >= parts * shortest_piece;
    threads.in_parallel(parts, 1, [&](const Range& range) {
        for (int64_t i = range.begin(); i < range.end(); ++i) {
            const Part part =
                by_columns ? Part{all_rows, share(scatter.width, i, parts)} : Part{share(scatter.rows, i, parts), all_columns};
            if (sorts)
                scatter_sorted(threads, scatter, loops, rows, data, updates, output, part.rows);
            else
                loops.scatter_part(threads, scatter, rows, updates, output, part);
        }
    });
}

}  // namespace ov_gather
