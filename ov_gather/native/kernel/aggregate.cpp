#include "aggregate.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "isa.hpp"

namespace ov_gather {
namespace {

constexpr int64_t grain = 1 << 14;  // elements of gathered rows per thread at least
constexpr int64_t block = 1 << 20;  // elements of gathered rows between two checks for an interrupt
constexpr int64_t padding = 16;     // edges beyond the last, which are prefetched, too

using Numbers = std::unique_ptr<int32_t[]>;

// Return numbers that are not initialized: to touch new memory takes longer than to sort an edge.
Numbers numbers(int64_t count) { return Numbers(new int32_t[count]); }

// Convert indices to positions from the start; return false if one is out of bounds.
bool wrap(const Threads& threads, const char* indices, int64_t index_size, int64_t count, int64_t size, int32_t* wrapped) {
    const WrapFunction function = line_functions().wrap[index_size == 8];
    std::atomic<bool> in_bounds{true};
    threads.in_parallel(count, grain, [&](const Range& range) {
        if (!function(indices + range.begin() * index_size, range.size(), size, wrapped + range.begin())) in_bounds = false;
    });
    return in_bounds.load();
}

// The edges to the rows `of`, sorted by row and else in order: starts[r] is the first one to row r of these.
struct SortedEdges {
    std::vector<int32_t> starts;
    Numbers sources, edges;
};

// Call `visit` for each edge to the rows `of`, in order. There is no branch that depends on a target, which would be
// mispredicted.
template <typename Visit>
void for_edges_to(const int32_t* targets, int64_t count, Range of, const Visit& visit) {
    constexpr int64_t step = 1 << 12;
    int32_t own[step + 1];
    const auto first = static_cast<uint32_t>(of.begin()), size = static_cast<uint32_t>(of.size());
    for (int64_t begin = 0; begin < count; begin += step) {
        int64_t found = 0;
        for (int64_t edge = begin; edge < std::min(begin + step, count); ++edge) {
            own[found] = static_cast<int32_t>(edge);
            found += static_cast<uint32_t>(targets[edge]) - first < size;
        }
        for (int64_t k = 0; k < found; ++k) visit(own[k]);
    }
}

// Sort by counting. `edges` is left out without weights.
SortedEdges sort_edges(const int32_t* sources, const int32_t* targets, int64_t count, Range of, bool has_weights) {
    SortedEdges result{std::vector<int32_t>(of.size() + 2), nullptr, nullptr};
    int32_t* const next = result.starts.data() + 1;  // where the next edge to a row goes; starts[r + 1] in the end
    for_edges_to(targets, count, of, [&](int32_t edge) { ++next[targets[edge] - of.begin() + 1]; });
    for (int64_t r = 1; r <= of.size(); ++r) next[r] += next[r - 1];
    const int64_t found = next[of.size()];
    result.sources = numbers(found + padding);
    std::fill_n(result.sources.get() + found, padding, 0);
    if (has_weights) {
        result.edges = numbers(found + padding);
        std::fill_n(result.edges.get() + found, padding, 0);
    }
    for_edges_to(targets, count, of, [&](int32_t edge) {
        const int32_t at = next[targets[edge] - of.begin()]++;
        result.sources[at] = sources[edge];
        if (has_weights) result.edges[at] = edge;
    });
    return result;
}

}  // namespace

bool aggregate(const Threads& threads, const Aggregation& given, const char* data, const char* source_indices,
               const char* target_indices, const char* weights, char* output) {
    const Numbers sources = numbers(given.edges), targets = numbers(given.edges);
    if (given.edges != 0 && !(wrap(threads, source_indices, given.source_size, given.edges, given.data_rows, sources.get()) &&
                              wrap(threads, target_indices, given.target_size, given.edges, given.rows, targets.get())))
        return false;
    if (given.rows == 0 || given.width == 0) return true;  // the addresses may be null
    const AggregateFunction function = line_functions().aggregate[given.element_size == 4 ? 0 : given.kind == 'f' ? 1 : 2];
    const int64_t row_bytes = given.width * given.element_size;
    // Each part sorts its edges, and for that scans all, so there are no more parts than threads.
    const int64_t elements = (given.edges + given.rows) * given.width;
    const int64_t parts = std::clamp<int64_t>(elements / grain, 1, threads.count());
    threads.in_parallel(parts, 1, [&](const Range& range) {
        const Range rows(given.rows * range.begin() / parts, given.rows * range.end() / parts);
        const SortedEdges sorted = sort_edges(sources.get(), targets.get(), given.edges, rows, given.weight_count != 0);
        const Aggregate work{data,
                             weights,
                             output + rows.begin() * row_bytes,
                             given.width,
                             given.weight_count,
                             given.reduction,
                             given.mean != 0,
                             sorted.starts.data(),
                             sorted.sources.get(),
                             given.weight_count ? sorted.edges.get() : sorted.sources.get()};
        for (int64_t row = 0, next; row < rows.size(); row = next) {
            if (row != 0) threads.check_interrupt();
            const int64_t limit = sorted.starts[row] + block / given.width;
            next = row + 1;
            while (next < rows.size() && next - row < block / given.width && sorted.starts[next + 1] <= limit) ++next;
            function(work, row, next);
        }
    });
    return true;
}

}  // namespace ov_gather
