#include "scatter.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "caches.hpp"
#include "isa.hpp"
#include "loops.hpp"
#include "platform.hpp"
#include "row_indices.hpp"
#include "threads.hpp"

namespace ov_gather {
namespace {

constexpr int64_t grain = 1 << 14;          // updates per thread at least
constexpr int64_t neighbours = 256;         // elements of a line off the axis that are updated together
constexpr int64_t ahead = 8;                // rows of indices and updates are prefetched this far ahead
constexpr int64_t packed_row = 256;         // bytes of a row in a packed column
constexpr int64_t block = 64;               // indices of a line checked, then used
constexpr int64_t uninterrupted = 1 << 16;  // updates between two checks for an interrupt

inline void prefetch(const char* from, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += 64) fetch(from + at);
}

inline void prefetch_to_write(const char* to, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += 64) fetch_to_write(to + at);
}

template <int64_t value>
using Known = std::integral_constant<int64_t, value>;

// Read an index and wrap it if negative. Return false if it is out of bounds.
template <typename Index>
bool read_index(const char* from, int64_t axis_size, int64_t& index) {
    index = read_once<Index>(from);
    return wrap_index(index, axis_size);
}

// Apply `count` updates in order; each goes `output_step` further than its index alone says. Steps are integers or, for faster
// loops, compile-time constants.
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

// Apply a block of contiguous updates in order. The functions of the chosen instruction set check the indices. Each update goes
// `output_step` elements further than its index alone says.
template <typename Element, typename Index, typename Reduce, typename AxisStep, typename OutputStep>
bool scatter_block(const Scatter& scatter, const char* indices, const char* updates, char* output, int64_t count,
                   AxisStep axis_step, OutputStep output_step) {
    int32_t places[neighbours];
    if (!line_functions().wrap[sizeof(Index) == sizeof(int64_t)](indices, count, scatter.axis_size, places)) return false;
    const auto* const from = reinterpret_cast<const Element*>(updates);
    auto* const to = reinterpret_cast<Element*>(output);
    for (int64_t i = 0; i < count; ++i) {
        Element& element = to[places[i] * axis_step + i * output_step];
        element = Reduce::apply(element, from[i]);
    }
    return true;
}

// Apply contiguous updates to a contiguous line, prefetching the next line: hardware does not prefetch beyond a page.
template <typename Element, typename Index, typename Reduce>
bool scatter_dense(const Scatter& scatter, const char* data, const char* indices, const char* updates, char* output) {
    const ScatterLoop& next = scatter.loops.back();
    constexpr int64_t size = sizeof(Element), index_size = sizeof(Index);
    for (int64_t start = 0; start < scatter.axis.size; start += block) {
        if (start % uninterrupted == uninterrupted - block) check_interrupt();
        const int64_t length = std::min(block, scatter.axis.size - start);
        const char *const at = indices + start * index_size, *const from = updates + start * size;
        if (length == block) {
            prefetch(at + next.index_stride, block * index_size);
            prefetch(from + next.update_stride, block * size);
            prefetch(data + start * size + next.output_stride, block * size);
            prefetch_to_write(output + start * size + next.output_stride, block * size);
        }
        if (!scatter_block<Element, Index, Reduce>(scatter, at, from, output, length, Known<1>(), Known<0>())) return false;
    }
    return true;
}

// Apply all updates along the axis for `count` neighbours off the axis. The output holds a copy of data.
template <typename Element, typename Index, typename Reduce>
bool scatter_lines(const Scatter& scatter, const char* data, const char* indices, const char* updates, char* output,
                   int64_t count) {
    constexpr Known<sizeof(Index)> index_size;
    constexpr Known<sizeof(Element)> size;
    const ScatterLoop axis = scatter.axis, line = scatter.loops.back();
    const auto make = [&](int64_t length, auto... steps) {
        return scatter_line<Element, Index, Reduce>(scatter, indices, updates, output, length, steps...);
    };
    const bool narrow = scatter.axis_size <= INT32_MAX;
    if (count == 1 && narrow && axis.index_stride == index_size && axis.update_stride == size && axis.output_stride == size)
        return scatter_dense<Element, Index, Reduce>(scatter, data, indices, updates, output);
    if (count == 1) {
        for (int64_t left = axis.size, length; left > 0; left -= length) {
            if (left != axis.size) check_interrupt();
            length = std::min(left, uninterrupted);
            const bool done = axis.index_stride == index_size && axis.update_stride == size
                                  ? make(length, index_size, size, Known<0>())
                                  : make(length, axis.index_stride, axis.update_stride, Known<0>());
            if (!done) return false;
            indices += length * axis.index_stride;
            updates += length * axis.update_stride;
        }
        return true;
    }
    const bool is_dense = line.update_stride == size && line.output_stride == size && line.index_stride == index_size &&
                          narrow && axis.output_stride % size == 0;
    int64_t left = uninterrupted;
    for (int64_t k = 0; k < axis.size; ++k, indices += axis.index_stride, updates += axis.update_stride) {
        if ((left -= count) < 0) {
            check_interrupt();
            left = uninterrupted;
        }
        if (is_dense && k + ahead < axis.size) {
            prefetch(indices + ahead * axis.index_stride, count * line.index_stride);
            prefetch(updates + ahead * axis.update_stride, count * line.update_stride);
        }
        const bool done = is_dense ? scatter_block<Element, Index, Reduce>(scatter, indices, updates, output, count,
                                                                           axis.output_stride / size, Known<1>())
                                   : make(count, line.index_stride, line.update_stride, line.output_stride);
        if (!done) return false;
    }
    return true;
}

using LinesFunction = bool (*)(const Scatter&, const char* data, const char* indices, const char* updates, char* output,
                               int64_t count);

LinesFunction choose(const Scatter& scatter) {
    return with_element_type(scatter.kind, scatter.element_size, scatter.reduction, [&](auto element, auto reduce) {
        using Element = decltype(element);
        using Reduce = decltype(reduce);
        return scatter.index_type == IndexType::int32 ? scatter_lines<Element, int32_t, Reduce>
                                                      : scatter_lines<Element, int64_t, Reduce>;
    });
}

// Return the width of packed columns in elements; 0 = do not pack. If the axis is not the last, the updates of a line go to
// rows far apart, each to another cache line, the rest of which is wasted. Columns of rows are therefore packed into a buffer
// that stays in near caches, and updated there, if there are enough updates.
int64_t packed_width(const Scatter& scatter) {
    const ScatterLoop &axis = scatter.axis, &line = scatter.loops.back();
    const int64_t column = scatter.axis_size * packed_row;
    if (line.output_stride != scatter.element_size || axis.output_stride <= packed_row || axis.size * 2 < scatter.axis_size ||
        column <= near_cache() || column > largest_buffer)
        return 0;
    return packed_row / scatter.element_size;
}

// Copy `count` neighbours of every row along the axis.
void copy_column(const Scatter& scatter, const char* data, char* output, int64_t count) {
    const int64_t bytes = count * scatter.element_size, stride = scatter.axis.output_stride;
    for (int64_t first = 0, rows; first < scatter.axis_size; first += rows) {
        if (first != 0) check_interrupt();
        rows = std::min(scatter.axis_size - first, uninterrupted);
        if (stride == bytes)
            std::memcpy(output + first * bytes, data + first * bytes, rows * bytes);
        else
            for (int64_t row = first; row < first + rows; ++row) std::memcpy(output + row * stride, data + row * stride, bytes);
    }
}

// Pack one column, `count` elements of every row along the axis, update the buffer, and copy it to the output.
bool scatter_column(Scatter scatter, LinesFunction scatter_lines, const char* data, const char* indices, const char* updates,
                    char* output, int64_t count) {
    thread_local std::vector<char> buffer;
    const int64_t bytes = count * scatter.element_size, stride = scatter.axis.output_stride;
    buffer.resize(scatter.axis_size * bytes);
    for (int64_t row = 0; row < scatter.axis_size; ++row) {
        prefetch(data + (row + ahead) * stride, bytes);
        std::memcpy(buffer.data() + row * bytes, data + row * stride, bytes);
    }
    scatter.axis.output_stride = bytes;
    const bool in_bounds = scatter_lines(scatter, buffer.data(), indices, updates, buffer.data(), count);
    for (int64_t row = 0; row < scatter.axis_size; ++row) {
        prefetch_to_write(output + (row + ahead) * stride, bytes);
        std::memcpy(output + row * stride, buffer.data() + row * bytes, bytes);
    }
    return in_bounds;
}

}  // namespace

bool scatter_elements(const Scatter& given, const char* data, const char* indices, const char* updates, char* output) {
    Scatter scatter = given;
    scatter.loops = merged(given.loops, 1);
    ScatterRows by_rows;
    std::vector<int64_t> rows;
    const RowIndices found = find_rows(scatter, indices, by_rows, rows);
    if (found == RowIndices::out_of_bounds) return false;
    if (found == RowIndices::found) {
        scatter_rows(by_rows, rows.data(), data, updates, output);
        return true;
    }
    const ScatterLoop& line = scatter.loops.back();
    // With many indices next to every element, elements are copied just before their update, so that each is moved once.
    const int64_t positions = count_positions(scatter.loops);
    const bool copies =
        data != output && positions * scatter.axis_size == scatter.elements && scatter.axis.size * 2 >= scatter.axis_size;
    if (data != output && !copies) copy_in_parallel(data, output, scatter.elements * scatter.element_size);
    const char* const source = copies ? data : output;
    // Positions that differ off the axis never update the same element, so threads share these. If the axis is not the last,
    // neighbours are adjacent in the row of an index.
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
            const bool done =
                packed ? scatter_column(scatter, scatter_piece, source + out, indices + index, updates + update, output + out,
                                        count)
                       : scatter_piece(scatter, source + out, indices + index, updates + update, output + out, count);
            if (!done) in_bounds.store(false, std::memory_order_relaxed);
        }
    });
    return in_bounds.load();
}

}  // namespace ov_gather
