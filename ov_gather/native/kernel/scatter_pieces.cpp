#include "scatter_pieces.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "isa.hpp"
#include "threads.hpp"

namespace ov_gather {
namespace {

constexpr int64_t ahead = 8;            // rows or blocks of indices and updates are prefetched this far ahead
constexpr int64_t block = 64;           // indices of a line checked, then used
constexpr int64_t near_line = 1 << 14;  // bytes; prefetching the next one of longer lines would evict data in use
constexpr int64_t far_line = 1 << 18;   // bytes; stores to longer lines wait for caches unless prefetched (1.2x on Xeon)

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
    // Stores leave in order, each when its cache line is there. The loads of a reduction need no prefetch.
    if (std::is_same_v<Reduce, Replace> && scatter.axis_size * scatter.axis.output_stride > far_line)
        for (int64_t i = 0; i < count; ++i) fetch_to_write(to + places[i] * axis_step + i * output_step);
    for (int64_t i = 0; i < count; ++i) {
        Element& element = to[places[i] * axis_step + i * output_step];
        element = Reduce::apply(element, from[i]);
    }
    return true;
}

// Apply updates to a contiguous line, prefetching the next line: hardware does not prefetch beyond a page.
template <typename Element, typename Index, typename Reduce>
bool scatter_line_of_blocks(const Scatter& scatter, const char* data, const char* indices, const char* updates, char* output) {
    const ScatterLoop& next = scatter.loops.back();
    constexpr int64_t size = sizeof(Element), index_size = sizeof(Index);
    const bool is_near = scatter.axis_size * size <= near_line;
    for (int64_t start = 0; start < scatter.axis.size; start += block) {
        if (start % uninterrupted == uninterrupted - block) check_interrupt();
        const int64_t length = std::min(block, scatter.axis.size - start);
        const char *const at = indices + start * index_size, *const from = updates + start * size;
        prefetch(at + (is_near ? next.index_stride : ahead * block * index_size), length * index_size);
        prefetch(from + (is_near ? next.update_stride : ahead * block * size), length * size);
        if (is_near) {
            prefetch(data + start * size + next.output_stride, length * size);
            prefetch_to_write(output + start * size + next.output_stride, length * size);
        }
        if (!scatter_block<Element, Index, Reduce>(scatter, at, from, output, length, Known<1>(), Known<0>())) return false;
    }
    return true;
}

// Apply updates to `count` short lines, whose indices fit into a block and follow each other.
template <typename Element, typename Index, typename Reduce>
bool scatter_short_lines(const Scatter& scatter, const char* indices, const char* updates, char* output, int64_t count) {
    const int64_t length = scatter.axis.size, axis_size = scatter.axis_size;
    int32_t places[neighbours];
    if (!line_functions().wrap[sizeof(Index) == sizeof(int64_t)](indices, count * length, axis_size, places)) return false;
    const auto* from = reinterpret_cast<const Element*>(updates);
    auto* to = reinterpret_cast<Element*>(output);
    const int32_t* place = places;
    for (int64_t line = 0; line < count; ++line, to += axis_size)
        for (int64_t i = 0; i < length; ++i, ++place, ++from) to[*place] = Reduce::apply(to[*place], *from);
    return true;
}

// Apply updates to `count` contiguous lines. Each is copied from data just before, unless the output holds a copy.
template <typename Element, typename Index, typename Reduce>
bool scatter_lines(const Scatter& scatter, const char* data, const char* indices, const char* updates, char* output,
                   int64_t count) {
    constexpr int64_t size = sizeof(Element), index_size = sizeof(Index);
    const int64_t length = scatter.axis.size, bytes = scatter.axis_size * size;
    const ScatterLoop& step = scatter.loops.back();
    const bool are_short = 0 < length && length * 2 <= neighbours && step.index_stride == length * index_size &&
                           step.update_stride == length * size && step.output_stride == bytes;
    const int64_t most = are_short ? neighbours / length : 1;
    for (int64_t lines; count > 0; count -= lines) {
        lines = std::min(most, count);
        if (data != output) std::memcpy(output, data, lines * bytes);
        const bool done = are_short ? scatter_short_lines<Element, Index, Reduce>(scatter, indices, updates, output, lines)
                                    : scatter_line_of_blocks<Element, Index, Reduce>(scatter, data, indices, updates, output);
        if (!done) return false;
        data += lines * step.output_stride;
        indices += lines * step.index_stride;
        updates += lines * step.update_stride;
        output += lines * step.output_stride;
    }
    return true;
}

// Apply all updates along the axis for `count` neighbours off the axis. The output holds a copy of data.
template <typename Element, typename Index, typename Reduce>
bool scatter_neighbours(const Scatter& scatter, const char*, const char* indices, const char* updates, char* output,
                        int64_t count) {
    constexpr Known<sizeof(Index)> index_size;
    constexpr Known<sizeof(Element)> size;
    const ScatterLoop axis = scatter.axis, line = scatter.loops.back();
    const auto make = [&](int64_t length, auto... steps) {
        return scatter_line<Element, Index, Reduce>(scatter, indices, updates, output, length, steps...);
    };
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
    const bool is_dense = count >= 8 && line.update_stride == size && line.output_stride == size &&
                          line.index_stride == index_size && scatter.axis_size <= INT32_MAX && axis.output_stride % size == 0;
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

template <typename Element, typename Reduce, typename Index>
PieceFunction choose(bool by_lines) {
    return by_lines ? scatter_lines<Element, Index, Reduce> : scatter_neighbours<Element, Index, Reduce>;
}

}  // namespace

PieceFunction piece_function(const Scatter& scatter, bool by_lines) {
    return with_element_type(scatter.kind, scatter.element_size, scatter.reduction, [&](auto element, auto reduce) {
        using Element = decltype(element);
        using Reduce = decltype(reduce);
        return scatter.index_type == IndexType::int32 ? choose<Element, Reduce, int32_t>(by_lines)
                                                      : choose<Element, Reduce, int64_t>(by_lines);
    });
}

}  // namespace ov_gather
