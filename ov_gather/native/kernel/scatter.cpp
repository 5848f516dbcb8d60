#include "scatter.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "caches.hpp"
#include "platform.hpp"
#include "threads.hpp"

namespace ov_gather {
namespace {

constexpr int64_t grain = 1 << 14;   // so many updates are worth another thread
constexpr int64_t neighbours = 256;  // so many elements of a line beside the axis are updated together
constexpr int64_t ahead = 8;         // so many rows of indices and updates are fetched before they are needed
constexpr int64_t packed_row = 256;  // bytes of a row in a packed column

inline void prefetch(const char* from, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += 64) fetch(from + at);
}

// Makes all updates along the axis for `count` neighbours off the axis.
template <typename Element, typename Index, typename Reduce>
bool scatter_line(const Scatter& scatter, const char* indices, const char* updates, char* output, int64_t count) {
    const ScatterLoop axis = scatter.axis, line = scatter.loops.back();  // copies, so that the loop keeps them in registers
    const int64_t axis_size = scatter.axis_size;
    for (int64_t k = 0; k < axis.size; ++k) {
        if (count > 1 && k + ahead < axis.size) {
            prefetch(indices + ahead * axis.index_stride, count * line.index_stride);
            prefetch(updates + ahead * axis.update_stride, count * line.update_stride);
        }
        for (int64_t i = 0; i < count; ++i) {
            int64_t index = read_once<Index>(indices + i * line.index_stride);
            index += (index >> 63) & axis_size;
            if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(axis_size)) return false;
            auto* to = reinterpret_cast<Element*>(output + index * axis.output_stride + i * line.output_stride);
            *to = Reduce::apply(*to, *reinterpret_cast<const Element*>(updates + i * line.update_stride));
        }
        indices += axis.index_stride;
        updates += axis.update_stride;
    }
    return true;
}

using LineFunction = bool (*)(const Scatter&, const char* indices, const char* updates, char* output, int64_t count);

LineFunction choose(const Scatter& scatter) {
    return with_element_type(scatter.kind, scatter.element_size, scatter.reduction, [&](auto element, auto reduce) {
        using Element = decltype(element);
        using Reduce = decltype(reduce);
        return scatter.index_type == IndexType::int32 ? scatter_line<Element, int32_t, Reduce>
                                                      : scatter_line<Element, int64_t, Reduce>;
    });
}

// Where the axis is not the last, the updates of a line go to rows far apart, each to another cache line, of which the rest is
// moved in vain. So columns of rows are packed into a buffer that stays close to the core, and updated there, if there are
// enough updates. Returns how wide such a column is; 0 = do not pack.
int64_t packed_width(const Scatter& scatter) {
    const ScatterLoop &axis = scatter.axis, &line = scatter.loops.back();
    const int64_t column = scatter.axis_size * packed_row;
    if (line.output_stride != scatter.element_size || axis.output_stride <= packed_row || axis.size * 2 < scatter.axis_size ||
        column <= near_cache || column > largest_buffer)
        return 0;
    return packed_row / scatter.element_size;
}

// Packs one column, which is `count` elements of every row along the axis, updates the pack, and puts it back.
bool scatter_column(Scatter scatter, LineFunction scatter_line, const char* indices, const char* updates, char* output,
                    int64_t count) {
    thread_local std::vector<char> buffer;
    const int64_t bytes = count * scatter.element_size, stride = scatter.axis.output_stride;
    buffer.resize(scatter.axis_size * bytes);
    for (int64_t row = 0; row < scatter.axis_size; ++row)
        std::memcpy(buffer.data() + row * bytes, output + row * stride, bytes);
    scatter.axis.output_stride = bytes;
    const bool in_bounds = scatter_line(scatter, indices, updates, buffer.data(), count);
    for (int64_t row = 0; row < scatter.axis_size; ++row)
        std::memcpy(output + row * stride, buffer.data() + row * bytes, bytes);
    return in_bounds;
}

template <typename Index>
bool all_within(const Index* indices, int64_t count, int64_t axis_size) {
    std::atomic<bool> in_bounds{true};
    in_parallel(count, grain, [&](const Range& range) {
        bool within = true;
        for (int64_t i = range.begin(); i < range.end(); ++i)
            within &= static_cast<uint64_t>(indices[i]) + axis_size < static_cast<uint64_t>(2 * axis_size);
        if (!within) in_bounds.store(false, std::memory_order_relaxed);
    });
    return in_bounds.load();
}

}  // namespace

bool are_in_bounds(const char* indices, IndexType type, int64_t count, int64_t axis_size) {
    return type == IndexType::int32 ? all_within(reinterpret_cast<const int32_t*>(indices), count, axis_size)
                                    : all_within(reinterpret_cast<const int64_t*>(indices), count, axis_size);
}

bool scatter_elements(const Scatter& scatter, const char* indices, const char* updates, char* output) {
    const ScatterLoop& line = scatter.loops.back();
    // Positions that differ off the axis never update the same element, so threads share these out. Where the axis is not the
    // last, neighbours lie together in each row that an index names.
    const bool beside = std::abs(line.output_stride) < std::abs(scatter.axis.output_stride);
    const int64_t packed = packed_width(scatter);
    const int64_t width = packed ? packed : beside ? neighbours : 1;
    const int64_t pieces = (line.size + width - 1) / width;
    int64_t lines = 1;
    for (size_t level = 0; level + 1 < scatter.loops.size(); ++level) lines *= scatter.loops[level].size;
    const LineFunction scatter_piece = choose(scatter);
    std::atomic<bool> in_bounds{true};
    const int64_t updates_a_piece = std::max<int64_t>(1, scatter.axis.size * std::min(width, line.size));
    in_parallel(lines * pieces, std::max<int64_t>(1, grain / updates_a_piece), [&](const Range& range) {
        for (int64_t piece = range.begin(); piece < range.end() && in_bounds.load(std::memory_order_relaxed); ++piece) {
            const int64_t start = piece % pieces * width;
            int64_t index = start * line.index_stride, update = start * line.update_stride, out = start * line.output_stride;
            int64_t left = piece / pieces;
            for (size_t level = scatter.loops.size() - 1; level-- > 0; left /= scatter.loops[level].size) {
                const int64_t at = left % scatter.loops[level].size;
                index += at * scatter.loops[level].index_stride;
                update += at * scatter.loops[level].update_stride;
                out += at * scatter.loops[level].output_stride;
            }
            const int64_t count = std::min(width, line.size - start);
            const bool done =
                packed ? scatter_column(scatter, scatter_piece, indices + index, updates + update, output + out, count)
                       : scatter_piece(scatter, indices + index, updates + update, output + out, count);
            if (!done) in_bounds.store(false, std::memory_order_relaxed);
        }
    });
    return in_bounds.load();
}

}  // namespace ov_gather
