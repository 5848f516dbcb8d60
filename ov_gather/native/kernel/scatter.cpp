#include "scatter.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include "caches.hpp"
#include "line_indices.hpp"
#include "platform.hpp"
#include "threads.hpp"

namespace ov_gather {
namespace {

constexpr int64_t grain = 1 << 14;   // so many updates are worth another thread
constexpr int64_t neighbours = 256;  // so many elements of a line beside the axis are updated together
constexpr int64_t ahead = 8;         // so many rows of indices and updates are fetched before they are needed
constexpr int64_t packed_row = 256;  // bytes of a row in a packed column
constexpr int64_t block = 512;       // so many indices are checked, then used, while in the first-level cache

inline void prefetch(const char* from, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += 64) fetch(from + at);
}

template <int64_t value>
using Known = std::integral_constant<int64_t, value>;

// Reads an index, and counts it from the start. Returns false if it is out of bounds.
template <typename Index>
bool read_index(const char* from, int64_t axis_size, int64_t& index) {
    index = read_once<Index>(from);
    index += (index >> 63) & axis_size;
    return static_cast<uint64_t>(index) < static_cast<uint64_t>(axis_size);
}

// Makes `count` updates, one after the other, of the places that indices name, and `output_step` further on for each update.
// Steps are numbers, or known when this is compiled, which makes a faster loop.
template <typename Element, typename Index, typename Reduce, typename IndexStep, typename UpdateStep, typename OutputStep>
bool scatter_line(const Scatter& scatter, const char* indices, const char* updates, char* output, int64_t count,
                  IndexStep index_step, UpdateStep update_step, OutputStep output_step) {
    const int64_t axis_size = scatter.axis_size, axis_stride = scatter.axis.output_stride;  // copies, to stay in registers
    for (int64_t i = 0; i < count; ++i) {
        int64_t index;
        if (!read_index<Index>(indices + i * index_step, axis_size, index)) return false;
        auto* to = reinterpret_cast<Element*>(output + index * axis_stride + i * output_step);
        *to = Reduce::apply(*to, *reinterpret_cast<const Element*>(updates + i * update_step));
    }
    return true;
}

// Makes `count` dense updates of dense elements, one after the other, as scatter_line does. Indices are checked a block at a
// time, which is faster.
template <typename Element, typename Index, typename Reduce>
bool scatter_dense(const Scatter& scatter, const char* indices, const char* updates, char* output, int64_t count) {
    const auto* const index = reinterpret_cast<const Index*>(indices);
    const auto* const from = reinterpret_cast<const Element*>(updates);
    auto* const to = reinterpret_cast<Element*>(output);
    int32_t places[block];
    for (int64_t start = 0; start < count; start += block) {
        const int64_t length = std::min(block, count - start);
        if (!wrap(index + start, length, scatter.axis_size, places)) return false;
        for (int64_t i = 0; i < length; ++i) to[places[i]] = Reduce::apply(to[places[i]], from[start + i]);
    }
    return true;
}

// Updates a row of dense elements that one index names.
template <typename Element, typename Index, typename Reduce>
bool scatter_row(const Scatter& scatter, const char* indices, const char* updates, char* output, int64_t count) {
    int64_t index;
    if (!read_index<Index>(indices, scatter.axis_size, index)) return false;
    auto* const to = reinterpret_cast<Element*>(output + index * scatter.axis.output_stride);
    const auto* const from = reinterpret_cast<const Element*>(updates);
    for (int64_t i = 0; i < count; ++i) to[i] = Reduce::apply(to[i], from[i]);
    return true;
}

// Tells whether all of dense indices are the same, as those are that name whole rows.
template <typename Index>
bool all_same(const char* indices, int64_t count) {
    const auto* const at = reinterpret_cast<const Index*>(indices);
    bool same = at[count - 1] == at[0];  // Where indices differ, the last and the first one mostly do.
    for (int64_t i = 1; same && i < count; i += 64)
        for (int64_t j = i; j < std::min(i + 64, count); ++j) same &= at[j] == at[0];
    return same;
}

// Makes all updates along the axis for `count` neighbours off the axis.
template <typename Element, typename Index, typename Reduce>
bool scatter_lines(const Scatter& scatter, const char* indices, const char* updates, char* output, int64_t count) {
    constexpr Known<sizeof(Index)> index_size;
    constexpr Known<sizeof(Element)> size;
    const ScatterLoop axis = scatter.axis, line = scatter.loops.back();
    const auto make = [&](int64_t length, auto... steps) {
        return scatter_line<Element, Index, Reduce>(scatter, indices, updates, output, length, steps...);
    };
    if (count == 1 && axis.index_stride == index_size && axis.update_stride == size && axis.output_stride == size &&
        scatter.axis_size <= INT32_MAX)
        return scatter_dense<Element, Index, Reduce>(scatter, indices, updates, output, axis.size);
    if (count == 1)
        return axis.index_stride == index_size && axis.update_stride == size
                   ? make(axis.size, index_size, size, Known<0>())
                   : make(axis.size, axis.index_stride, axis.update_stride, Known<0>());
    const bool is_dense = line.update_stride == size && line.output_stride == size;
    const bool has_indices = line.index_stride == index_size;
    for (int64_t k = 0; k < axis.size; ++k, indices += axis.index_stride, updates += axis.update_stride) {
        if (k + ahead < axis.size) {
            prefetch(indices + ahead * axis.index_stride, count * line.index_stride);
            prefetch(updates + ahead * axis.update_stride, count * line.update_stride);
        }
        const bool is_row = is_dense && (line.index_stride == 0 || (has_indices && all_same<Index>(indices, count)));
        const bool done = is_row ? scatter_row<Element, Index, Reduce>(scatter, indices, updates, output, count)
                          : is_dense && has_indices ? make(count, index_size, size, size)
                                                    : make(count, line.index_stride, line.update_stride, line.output_stride);
        if (!done) return false;
    }
    return true;
}

using LinesFunction = bool (*)(const Scatter&, const char* indices, const char* updates, char* output, int64_t count);

LinesFunction choose(const Scatter& scatter) {
    return with_element_type(scatter.kind, scatter.element_size, scatter.reduction, [&](auto element, auto reduce) {
        using Element = decltype(element);
        using Reduce = decltype(reduce);
        return scatter.index_type == IndexType::int32 ? scatter_lines<Element, int32_t, Reduce>
                                                      : scatter_lines<Element, int64_t, Reduce>;
    });
}

// Drops loops of one step, and joins neighbours that step as one: fewer, longer loops visit the same positions.
std::vector<ScatterLoop> merged(const std::vector<ScatterLoop>& loops) {
    std::vector<ScatterLoop> result;
    for (const ScatterLoop& inner : loops) {
        if (inner.size == 1) continue;
        if (!result.empty()) {
            ScatterLoop& outer = result.back();
            if (outer.index_stride == inner.index_stride * inner.size &&
                outer.update_stride == inner.update_stride * inner.size &&
                outer.output_stride == inner.output_stride * inner.size) {
                outer = {outer.size * inner.size, inner.index_stride, inner.update_stride, inner.output_stride};
                continue;
            }
        }
        result.push_back(inner);
    }
    if (result.empty()) result.push_back({1, 0, 0, 0});
    return result;
}

// Where the axis is not the last, the updates of a line go to rows far apart, each to another cache line, of which the rest is
// moved in vain. So columns of rows are packed into a buffer that stays close to the core, and updated there, if there are
// enough updates. Returns how wide such a column is; 0 = do not pack.
int64_t packed_width(const Scatter& scatter) {
    const ScatterLoop &axis = scatter.axis, &line = scatter.loops.back();
    const int64_t column = scatter.axis_size * packed_row;
    if (line.output_stride != scatter.element_size || axis.output_stride <= packed_row || axis.size * 2 < scatter.axis_size ||
        column <= near_cache() || column > largest_buffer)
        return 0;
    return packed_row / scatter.element_size;
}

// Copies `count` neighbours of every row along the axis.
void copy_column(const Scatter& scatter, const char* data, char* output, int64_t count) {
    const int64_t bytes = count * scatter.element_size, stride = scatter.axis.output_stride;
    if (stride == bytes)
        std::memcpy(output, data, scatter.axis_size * bytes);
    else
        for (int64_t row = 0; row < scatter.axis_size; ++row) std::memcpy(output + row * stride, data + row * stride, bytes);
}

// Packs one column, which is `count` elements of every row along the axis, updates the pack, and puts it into the output.
bool scatter_column(Scatter scatter, LinesFunction scatter_lines, const char* data, const char* indices, const char* updates,
                    char* output, int64_t count) {
    thread_local std::vector<char> buffer;
    const int64_t bytes = count * scatter.element_size, stride = scatter.axis.output_stride;
    buffer.resize(scatter.axis_size * bytes);
    for (int64_t row = 0; row < scatter.axis_size; ++row) std::memcpy(buffer.data() + row * bytes, data + row * stride, bytes);
    scatter.axis.output_stride = bytes;
    const bool in_bounds = scatter_lines(scatter, indices, updates, buffer.data(), count);
    for (int64_t row = 0; row < scatter.axis_size; ++row)
        std::memcpy(output + row * stride, buffer.data() + row * bytes, bytes);
    return in_bounds;
}

template <typename Index>
bool all_within(const Index* indices, int64_t count, int64_t axis_size) {
    if (count == 0) return true;
    constexpr int64_t least = std::numeric_limits<Index>::min(), most = std::numeric_limits<Index>::max();
    const auto low = static_cast<Index>(std::max(-axis_size, least)), high = static_cast<Index>(std::min(axis_size - 1, most));
    std::atomic<bool> in_bounds{true};
    in_parallel(count, grain, [&](const Range& range) {
        Index outside = 0;  // is as wide as an index, for the compiler to make vectors of both
        for (int64_t i = range.begin(); i < range.end(); ++i) outside |= (indices[i] < low) | (indices[i] > high);
        if (outside) in_bounds.store(false, std::memory_order_relaxed);
    });
    return in_bounds.load();
}

}  // namespace

bool are_in_bounds(const char* indices, IndexType type, int64_t count, int64_t axis_size) {
    return type == IndexType::int32 ? all_within(reinterpret_cast<const int32_t*>(indices), count, axis_size)
                                    : all_within(reinterpret_cast<const int64_t*>(indices), count, axis_size);
}

bool scatter_elements(const Scatter& given, const char* data, const char* indices, const char* updates, char* output) {
    Scatter scatter = given;
    scatter.loops = merged(given.loops);
    const ScatterLoop& line = scatter.loops.back();
    // Where indices are beside every element, and many, an element is copied when it is about to be updated, so that it is
    // moved once.
    int64_t positions = 1;
    for (const ScatterLoop& loop : scatter.loops) positions *= loop.size;
    const bool copies =
        data != output && positions * scatter.axis_size == scatter.elements && scatter.axis.size * 2 >= scatter.axis_size;
    if (data != output && !copies) copy_in_parallel(data, output, scatter.elements * scatter.element_size);
    const char* const source = copies ? data : output;
    // Positions that differ off the axis never update the same element, so threads share these out. Where the axis is not the
    // last, neighbours lie together in each row that an index names.
    const bool beside = std::abs(line.output_stride) < std::abs(scatter.axis.output_stride);
    const int64_t packed = packed_width(scatter);
    const int64_t width = packed ? packed : beside ? neighbours : 1;
    const int64_t pieces = (line.size + width - 1) / width;
    const int64_t lines = positions / std::max<int64_t>(1, line.size);
    const LinesFunction scatter_piece = choose(scatter);
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
            if (copies && !packed) copy_column(scatter, data + out, output + out, count);
            const bool done = packed ? scatter_column(scatter, scatter_piece, source + out, indices + index, updates + update,
                                                      output + out, count)
                                     : scatter_piece(scatter, indices + index, updates + update, output + out, count);
            if (!done) in_bounds.store(false, std::memory_order_relaxed);
        }
    });
    return in_bounds.load();
}

}  // namespace ov_gather
