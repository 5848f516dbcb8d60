#include "scatter_pieces.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "isa.hpp"

namespace ov_gather {
namespace {

constexpr int64_t ahead = 8;            // rows or blocks of indices and updates are prefetched this far ahead
constexpr int64_t block = 64;           // indices of a line checked, then used
constexpr int64_t near_line = 1 << 14;  // bytes; prefetching the next one of longer lines would evict data in use
constexpr int64_t far_line = 1 << 18;   // bytes; stores to longer lines wait for caches unless prefetched (1.2x on Xeon)

// Check and wrap contiguous indices by the chosen instruction set. Return false if one is out of bounds.
bool wrap(const Scatter& scatter, const char* indices, int64_t count, int32_t* places) {
    return line_functions().wrap[scatter.index_size == 8](indices, count, scatter.axis_size, places);
}

// Apply `count` updates in order, whatever their strides. Each goes `output_step` bytes further than its index alone says.
template <typename Element, typename Reduce>
bool scatter_strided(const Scatter& scatter, const char* indices, const char* updates, char* output, int64_t count,
                     const ScatterLoop& step, int64_t output_step) {
    const int64_t axis_size = scatter.axis_size, axis_stride = scatter.axis.output_stride;  // copies, to stay in registers
    const bool narrow = scatter.index_size == 4;
    for (int64_t i = 0; i < count; ++i) {
        const char* const at = indices + i * step.index_stride;
        int64_t index = narrow ? read_once<int32_t>(at) : read_once<int64_t>(at);
        if (!wrap_index(index, axis_size)) return false;
        auto* to = reinterpret_cast<Element*>(output + index * axis_stride + i * output_step);
        *to = Reduce::apply(*to, *reinterpret_cast<const Element*>(updates + i * step.update_stride));
    }
    return true;
}

// Apply a block of contiguous updates in order. Each goes `output_step` elements further than its index alone says: 0 or 1, a
// constant for faster loops.
template <typename Element, typename Reduce, int64_t output_step>
bool scatter_block(const Scatter& scatter, const char* indices, const char* updates, char* output, int64_t count) {
    alignas(64) int32_t places[neighbours];  // else stores of vectors cross cache lines: 1.2 times the time
    if (!wrap(scatter, indices, count, places)) return false;
    const int64_t axis_step = output_step == 0 ? 1 : scatter.axis.output_stride / static_cast<int64_t>(sizeof(Element));
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

// Apply updates to `count` short lines, whose indices fit into a block and follow each other.
template <typename Element, typename Reduce>
bool scatter_short_lines(const Scatter& scatter, const char* indices, const char* updates, char* output, int64_t count) {
    const int64_t length = scatter.axis.size, axis_size = scatter.axis_size;
    alignas(64) int32_t places[neighbours];
    if (!wrap(scatter, indices, count * length, places)) return false;
    const auto* from = reinterpret_cast<const Element*>(updates);
    auto* to = reinterpret_cast<Element*>(output);
    const int32_t* place = places;
    for (int64_t line = 0; line < count; ++line, to += axis_size)
        for (int64_t i = 0; i < length; ++i, ++place, ++from) to[*place] = Reduce::apply(to[*place], *from);
    return true;
}

// Apply updates to a contiguous line, prefetching the next line: hardware does not prefetch beyond a page.
bool scatter_line_of_blocks(const Threads& threads, const Scatter& scatter, const PieceLoops& loops, const char* data,
                            const char* indices, const char* updates, char* output) {
    const ScatterLoop& next = last_loop(scatter);
    const int64_t size = scatter.element_size, index_size = scatter.index_size;
    const bool is_near = scatter.axis_size * size <= near_line;
    for (int64_t start = 0; start < scatter.axis.size; start += block) {
        if (start % uninterrupted == uninterrupted - block) threads.check_interrupt();
        const int64_t length = std::min(block, scatter.axis.size - start);
        const char *const at = indices + start * index_size, *const from = updates + start * size;
        prefetch(at + (is_near ? next.index_stride : ahead * block * index_size), length * index_size);
        prefetch(from + (is_near ? next.update_stride : ahead * block * size), length * size);
        if (is_near) {
            prefetch(data + start * size + next.output_stride, length * size);
            prefetch_to_write(output + start * size + next.output_stride, length * size);
        }
        if (!loops.along(scatter, at, from, output, length)) return false;
    }
    return true;
}

// Apply updates to `count` contiguous lines. Each is copied from data just before, unless the output holds a copy.
bool scatter_lines(const Threads& threads, const Scatter& scatter, const PieceLoops& loops, const char* data,
                   const char* indices, const char* updates, char* output, int64_t count) {
    const int64_t size = scatter.element_size, index_size = scatter.index_size;
    const int64_t length = scatter.axis.size, bytes = scatter.axis_size * size;
    const ScatterLoop& step = last_loop(scatter);
    const bool are_short = 0 < length && length * 2 <= neighbours && step.index_stride == length * index_size &&
                           step.update_stride == length * size && step.output_stride == bytes;
    const int64_t most = are_short ? neighbours / length : 1;
    for (int64_t lines; count > 0; count -= lines) {
        lines = std::min(most, count);
        if (data != output && bytes != 0) std::memcpy(output, data, lines * bytes);  // the addresses may be null
        const bool done = are_short ? loops.short_lines(scatter, indices, updates, output, lines)
                                    : scatter_line_of_blocks(threads, scatter, loops, data, indices, updates, output);
        if (!done) return false;
        data += lines * step.output_stride;
        indices += lines * step.index_stride;
        updates += lines * step.update_stride;
        output += lines * step.output_stride;
    }
    return true;
}

// Apply all updates along the axis for `count` neighbours off the axis. The output holds a copy of data.
bool scatter_neighbours(const Threads& threads, const Scatter& scatter, const PieceLoops& loops, const char* indices,
                        const char* updates, char* output, int64_t count) {
    const int64_t size = scatter.element_size;
    const ScatterLoop &axis = scatter.axis, &line = last_loop(scatter);
    if (count == 1) {
        for (int64_t left = axis.size, length; left > 0; left -= length) {
            if (left != axis.size) threads.check_interrupt();
            length = std::min(left, uninterrupted);
            if (!loops.strided(scatter, indices, updates, output, length, axis, 0)) return false;
            indices += length * axis.index_stride;
            updates += length * axis.update_stride;
        }
        return true;
    }
    const bool is_dense = count >= 8 && line.update_stride == size && line.output_stride == size &&
                          line.index_stride == scatter.index_size && scatter.axis_size <= INT32_MAX &&
                          axis.output_stride % size == 0;
    int64_t left = uninterrupted;
    for (int64_t k = 0; k < axis.size; ++k, indices += axis.index_stride, updates += axis.update_stride) {
        if ((left -= count) < 0) {
            threads.check_interrupt();
            left = uninterrupted;
        }
        if (is_dense && k + ahead < axis.size) {
            prefetch(indices + ahead * axis.index_stride, count * line.index_stride);
            prefetch(updates + ahead * axis.update_stride, count * line.update_stride);
        }
        const bool done = is_dense ? loops.off(scatter, indices, updates, output, count)
                                   : loops.strided(scatter, indices, updates, output, count, line, line.output_stride);
        if (!done) return false;
    }
    return true;
}

}  // namespace

bool PieceFunction::operator()(const Threads& threads, const Scatter& scatter, const char* data, const char* indices,
                               const char* updates, char* output, int64_t count) const {
    return by_lines ? scatter_lines(threads, scatter, loops, data, indices, updates, output, count)
                    : scatter_neighbours(threads, scatter, loops, indices, updates, output, count);
}

PieceFunction piece_function(const Scatter& scatter, bool by_lines) {
    const PieceLoops loops =
        with_element_type(scatter.kind, scatter.element_size, scatter.reduction, [](auto element, auto reduce) {
            using Element = decltype(element);
            using Reduce = decltype(reduce);
            return PieceLoops{scatter_strided<Element, Reduce>, scatter_block<Element, Reduce, 0>,
                              scatter_block<Element, Reduce, 1>, scatter_short_lines<Element, Reduce>};
        });
    return {loops, by_lines};
}

}  // namespace ov_gather
