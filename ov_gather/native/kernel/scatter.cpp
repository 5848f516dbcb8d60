#include "scatter.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "caches.hpp"
#include "loops.hpp"
#include "platform.hpp"
#include "row_indices.hpp"
#include "scatter_pieces.hpp"

namespace ov_gather {
namespace {

constexpr int64_t grain = 1 << 14;           // updates per thread at least
constexpr int64_t ahead = 8;                 // rows are prefetched this far ahead
constexpr int64_t cache_line = 64;           // bytes
constexpr int64_t packed_row = 256;          // bytes of a row in a packed column
constexpr int64_t piece_of_lines = 1 << 12;  // elements of contiguous lines that are updated together

// Return true if lines along the axis are contiguous in indices, updates and output.
bool has_contiguous_lines(const Scatter& scatter) {
    const ScatterLoop& axis = scatter.axis;
    return axis.index_stride == scatter.index_size && axis.update_stride == scatter.element_size &&
           axis.output_stride == scatter.element_size && scatter.axis_size <= INT32_MAX;
}

// Return the width of packed columns in elements; 0 = do not pack. If the axis is not the last, the updates of a line go to
// rows far apart, each to another cache line, the rest of which is wasted. Columns of rows are therefore packed into a buffer
// that stays in near caches, and updated there, if there are enough updates. Unpacked columns would not stay in caches even
// where they fit: rows whose distance is a power of two share a few sets (2.2 times slower for rows of 4 KB on Xeon).
int64_t packed_width(const Scatter& scatter) {
    const ScatterLoop &axis = scatter.axis, &line = last_loop(scatter);
    const int64_t column = scatter.axis_size * packed_row;
    if (line.output_stride != scatter.element_size || axis.output_stride <= packed_row || axis.size * 2 < scatter.axis_size ||
        scatter.axis_size * axis.output_stride <= near_cache() || column > largest_buffer)
        return 0;
    return packed_row / scatter.element_size;
}

// Return how many positions along the innermost loop off the axis are updated together, unpacked.
int64_t piece_width(const Scatter& scatter, bool by_lines, int64_t positions, int64_t threads) {
    const ScatterLoop& line = last_loop(scatter);
    if (by_lines) return std::max<int64_t>(1, piece_of_lines / std::max({scatter.axis.size, scatter.axis_size, int64_t{1}}));
    // If the axis is not the last, neighbours are adjacent in the row of an index.
    if (std::abs(line.output_stride) >= std::abs(scatter.axis.output_stride)) return 1;
    if (scatter.axis.size * positions < 2 * grain) return neighbours;
    const int64_t share = (positions + threads - 1) / threads;
    const int64_t unit =
        std::max<int64_t>(1, (share * scatter.element_size < cache_line ? 16 : cache_line) / scatter.element_size);
    return std::min(neighbours, (share + unit - 1) / unit * unit);
}

// Copy `count` neighbours of every row along the axis.
void copy_column(const Threads& threads, const Scatter& scatter, const char* data, char* output, int64_t count) {
    const int64_t bytes = count * scatter.element_size, stride = scatter.axis.output_stride;
    for (int64_t first = 0, rows; first < scatter.axis_size; first += rows) {
        if (first != 0) threads.check_interrupt();
        rows = std::min(scatter.axis_size - first, uninterrupted);
        if (stride == bytes)
            std::memcpy(output + first * bytes, data + first * bytes, rows * bytes);
        else
            for (int64_t row = first; row < first + rows; ++row) std::memcpy(output + row * stride, data + row * stride, bytes);
    }
}

// Pack one column, `count` elements of every row along the axis, update the buffer, and copy it to the output.
bool scatter_column(const Threads& threads, Scatter scatter, PieceFunction scatter_piece, const char* data, const char* indices,
                    const char* updates, char* output, int64_t count) {
    thread_local std::vector<char> buffer;
    const int64_t bytes = count * scatter.element_size, stride = scatter.axis.output_stride;
    buffer.resize(scatter.axis_size * bytes);
    for (int64_t row = 0; row < scatter.axis_size; ++row) {
        prefetch(data + (row + ahead) * stride, bytes);
        std::memcpy(buffer.data() + row * bytes, data + row * stride, bytes);
    }
    scatter.axis.output_stride = bytes;
    const bool in_bounds = scatter_piece(threads, scatter, buffer.data(), indices, updates, buffer.data(), count);
    for (int64_t row = 0; row < scatter.axis_size; ++row) {
        prefetch_to_write(output + (row + ahead) * stride, bytes);
        std::memcpy(output + row * stride, buffer.data() + row * bytes, bytes);
    }
    return in_bounds;
}

}  // namespace

bool scatter_elements(const Threads& threads, const Scatter& given, const char* data, const char* indices, const char* updates,
                      char* output) {
    const std::vector<ScatterLoop> loops = merged(loops_of(given), 1);
    Scatter scatter = given;
    scatter.loops = loops.data();
    scatter.loop_count = loops.size();
    ScatterRows by_rows;
    std::vector<int64_t> rows;
    const RowIndices found = find_rows(threads, scatter, indices, by_rows, rows);
    if (found == RowIndices::out_of_bounds) return false;
    if (found == RowIndices::found) {
        scatter_rows(threads, by_rows, rows.data(), data, updates, output);
        return true;
    }
    const ScatterLoop& line = loops.back();
    const int64_t positions = count_positions(loops);
    const bool by_lines = has_contiguous_lines(scatter);
    // Positions that differ off the axis never update the same element, so threads share these.
    const int64_t packed = by_lines ? 0 : packed_width(scatter);
    const int64_t width = packed ? packed : piece_width(scatter, by_lines, positions, threads.count());
    // With indices next to every element, elements are copied just before their update, so that each is moved once.
    const bool copies = data != output && positions * scatter.axis_size == scatter.elements &&
                        (by_lines ? scatter.axis_size * scatter.element_size <= near_cache()
                                  : scatter.axis.size * 2 >= scatter.axis_size && width * scatter.element_size >= cache_line);
    if (data != output && !copies) threads.copy(data, output, scatter.elements * scatter.element_size);
    const char* const source = copies ? data : output;
    const int64_t pieces = (line.size + width - 1) / width;
    const int64_t lines = positions / std::max<int64_t>(1, line.size);
    const PieceFunction scatter_piece = piece_function(scatter, by_lines);
    std::atomic<bool> in_bounds{true};
    const int64_t elements_a_line = std::max(scatter.axis.size, copies ? scatter.axis_size : 1);
    const int64_t elements_a_piece = std::max<int64_t>(1, elements_a_line * std::min(width, line.size));
    threads.in_parallel(lines * pieces, std::max<int64_t>(1, grain / elements_a_piece), [&](const Range& range) {
        for (int64_t piece = range.begin(); piece < range.end() && in_bounds.load(std::memory_order_relaxed); ++piece) {
            const int64_t start = piece % pieces * width;
            int64_t index = start * line.index_stride, update = start * line.update_stride, out = start * line.output_stride;
            int64_t left = piece / pieces;
            for (size_t level = loops.size() - 1; level-- > 0; left /= loops[level].size) {
                const int64_t at = left % loops[level].size;
                index += at * loops[level].index_stride;
                update += at * loops[level].update_stride;
                out += at * loops[level].output_stride;
            }
            const int64_t count = std::min(width, line.size - start);
            if (copies && !packed && !by_lines) copy_column(threads, scatter, data + out, output + out, count);
            const bool done =
                packed ? scatter_column(threads, scatter, scatter_piece, source + out, indices + index, updates + update,
                                        output + out, count)
                       : scatter_piece(threads, scatter, source + out, indices + index, updates + update, output + out, count);
            if (!done) in_bounds.store(false, std::memory_order_relaxed);
        }
    });
    return in_bounds.load();
}

}  // namespace ov_gather
