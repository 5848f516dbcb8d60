// The outer loops of gather_elements: their order, and the threads they run on. lines.cpp does the work within lines.
#include "gather.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "caches.hpp"
#include "isa.hpp"
#include "loops.hpp"
#include "platform.hpp"

namespace ov_gather {
namespace {

constexpr int64_t column_buffer = 1 << 16;  // bytes of a packed column, unless it has many rows
constexpr int64_t uninterrupted = 1 << 20;  // elements between two checks for an interrupt
constexpr int64_t column_block = 512;       // elements per column if lines are split, but not packed

// Minimum bytes of a row in a packed column. The last-level cache of a Zen 5 is fast enough to gain from longer pieces. On a
// Zen 4, columns of 4,096 rows take 0.6 to 0.9 of the time with short ones.
int64_t shortest_piece() {
    static const int64_t size = is_intel() || is_zen_4() ? 1 << 8 : 1 << 10;
    return size;
}

bool are_multiples(const std::vector<Loop>& loops, int64_t of) {
    return std::all_of(loops.begin(), loops.end(),
                       [of](const Loop& loop) { return loop.data_stride % of == 0 && loop.output_stride % of == 0; });
}

// Make a short contiguous slice one wide element if its address is aligned to its size.
void widen_elements(Gather& gather, std::vector<Loop>& loops, const char* data, const char* output) {
    const Loop slice = loops.back();
    const int64_t size = gather.element_size, wide = slice.size * size;
    if (slice.index_stride != 0 || slice.data_stride != size || slice.output_stride != size || wide > 16 || wide & (wide - 1))
        return;
    std::vector<Loop> outer(loops.begin(), loops.end() - 1);
    if (outer.size() < 2) outer.insert(outer.begin(), {1, 0, 0, 0});
    if (!are_multiples(outer, wide) || gather.axis_stride % wide != 0 || reinterpret_cast<uintptr_t>(data) % wide != 0 ||
        reinterpret_cast<uintptr_t>(output) % wide != 0)
        return;
    loops = outer;
    gather.element_size = wide;
}

// A position in the loops, and its byte offsets in the three arrays.
class Cursor {
public:
    Cursor(const std::vector<Loop>& loops, int64_t position) : m_loops(loops), m_at(loops.size()) {
        for (size_t level = loops.size(); level-- > 0;) {
            step(level, position % loops[level].size);
            position /= loops[level].size;
        }
    }

    int64_t left_in_line() const { return m_loops.back().size - m_at.back(); }
    int64_t left_in_plane() const { return m_loops[m_loops.size() - 2].size - m_at[m_loops.size() - 2]; }

    void advance_elements(int64_t count) {
        step(m_loops.size() - 1, count);
        carry(m_loops.size() - 1);
    }

    void advance_lines(int64_t count) {
        step(m_loops.size() - 2, count);
        carry(m_loops.size() - 2);
    }

    int64_t index = 0, data = 0, output = 0;

private:
    void carry(size_t level) {
        for (; level > 0 && m_at[level] == m_loops[level].size; --level) {
            step(level, -m_at[level]);
            step(level - 1, 1);
        }
    }

    void step(size_t level, int64_t count) {
        m_at[level] += count;
        index += count * m_loops[level].index_stride;
        data += count * m_loops[level].data_stride;
        output += count * m_loops[level].output_stride;
    }

    const std::vector<Loop>& m_loops;
    std::vector<int64_t> m_at;
};

// Split lines into columns if the axis is not the last. A line then touches every row along the axis, each in another cache
// line; narrow columns use a cache line repeatedly while it is cached.
void split_into_columns(std::vector<Loop>& loops, const Gather& gather) {
    const Loop line = loops.back();
    if (line.data_stride == 0 || line.index_stride == 0 || line.size % column_block != 0 ||
        gather.axis_size * line.size * gather.element_size <= near_cache())
        return;
    size_t axis_level = loops.size() - 1;
    while (axis_level > 0 && loops[axis_level - 1].data_stride == 0) --axis_level;
    if (axis_level == loops.size() - 1) return;
    loops.back().size = column_block;
    loops.insert(loops.begin() + axis_level, {line.size / column_block, line.index_stride * column_block,
                                              line.data_stride * column_block, line.output_stride * column_block});
}

// Return how far the next plane is, if it should be prefetched while this one is gathered: its rows are contiguous, most of
// their cache lines will be read, in random order, and both planes fit into the near caches. 64 planes of 192 KB take 0.3 to
// 0.5 of the time on a Zen 4. Intel was not measured.
int64_t next_plane(const Gather& gather, const std::vector<Loop>& loops) {
    const Loop& line = loops.back();
    const Loop& axis = loops[loops.size() - 2];
    const int64_t reach = gather.axis_size * gather.axis_stride;
    if (is_intel() || loops.size() < 3 || axis.data_stride != 0 || line.data_stride != gather.element_size ||
        gather.axis_stride != line.size * gather.element_size || axis.size * 64 < gather.axis_size * gather.element_size ||
        2 * reach > near_cache())
        return 0;
    return loops[loops.size() - 3].data_stride;
}

Plane describe(const Gather& gather, const std::vector<Loop>& loops, int64_t positions) {
    const Loop& line = loops.back();
    const int64_t reach = gather.axis_size * std::abs(gather.axis_stride);
    const int64_t moved = positions * (2 * gather.element_size + (line.index_stride ? gather.index_size : 0));
    return {loops[loops.size() - 2],
            line,
            gather.axis_size,
            gather.axis_stride,
            next_plane(gather, loops),
            is_beyond_near(reach),
            is_near(reach),
            has_fast_gathers(),
            reach > cached_bytes(),
            is_streamed(moved, reach, line.index_stride != 0 && line.data_stride == 0),
            gather.zero != 0};
}

template <typename Index>
int64_t find_out_of_bounds(const Threads& threads, const Gather& gather, const char* indices) {
    const int64_t count = count_positions(loops_of(gather));
    if (count == 0) return ov_gather_done;
    const std::vector<Loop> loops = merged(loops_of(gather), 1);
    Cursor cursor(loops, 0);
    for (int64_t position = 0; position < count; ++position, cursor.advance_elements(1)) {
        if (position % uninterrupted == uninterrupted - 1) threads.check_interrupt();
        const int64_t index = read_once<Index>(indices + cursor.index);
        if (index < -gather.axis_size || index >= gather.axis_size) return position;
    }
    return ov_gather_done;
}

// Return the width of packed columns in elements; 0 = do not pack. If the axis is not the last, each element of a line lies in
// another cache line, the rest of which is wasted. Columns of rows are therefore packed into a buffer that stays in near
// caches, if the axis is visited often enough.
int64_t packed_width(const Gather& gather, const std::vector<Loop>& loops) {
    const Loop& line = loops.back();
    const Loop& axis = loops[loops.size() - 2];
    if (axis.data_stride != 0 || line.data_stride != gather.element_size || line.output_stride != gather.element_size ||
        line.index_stride == 0 || axis.size * 2 < gather.axis_size ||
        gather.axis_size * line.size * gather.element_size <= near_cache())
        return 0;
    const int64_t bytes = std::max(column_buffer / gather.axis_size, shortest_piece());
    if (gather.axis_size * bytes > largest_buffer) return 0;
    int64_t width = 1;
    while (width * 2 * gather.element_size <= bytes && width * 2 <= line.size) width *= 2;
    return width;
}

// Pack one column, `width` elements of every row along the axis, and gather from the buffer.
bool gather_column(const Threads& threads, Plane plane, PlaneFunction gather_plane, int64_t element_size, int64_t width,
                   const char* data, const char* indices, char* output) {
    thread_local std::vector<char> buffer;
    const int64_t bytes = width * element_size;
    buffer.resize(plane.axis_size * bytes);
    for (int64_t row = 0; row < plane.axis_size; ++row)
        std::memcpy(buffer.data() + row * bytes, data + row * plane.axis_stride, bytes);
    plane.axis_stride = bytes;
    plane.prefetch = false;
    const Loop& lines = plane.lines;
    const int64_t step = std::max<int64_t>(1, uninterrupted / width);
    for (int64_t line = 0; line < lines.size; line += step) {
        threads.check_interrupt();
        if (!gather_plane(plane, buffer.data(), indices + line * lines.index_stride, output + line * lines.output_stride,
                          std::min(step, lines.size - line), width))
            return false;
    }
    return true;
}

bool has_aligned_elements(const Gather& gather, const char* data, const char* output) {
    const int64_t size = std::min<int64_t>(gather.element_size, 8);
    const auto loops = loops_of(gather);
    return is_aligned(data, size) && is_aligned(output, size) && gather.axis_stride % size == 0 &&
           std::all_of(loops.begin(), loops.end(),
                       [size](const Loop& loop) { return loop.data_stride % size == 0 && loop.output_stride % size == 0; });
}

// Gather elements at any address, as slices of bytes.
int64_t gather_bytes(const Threads& threads, Gather gather, const char* data, const char* indices, char* output) {
    const int64_t size = gather.element_size;
    std::vector<Loop> loops(gather.loops, gather.loops + gather.loop_count);
    loops.push_back({size, 0, 1, 1});
    gather.loops = loops.data();
    ++gather.loop_count;
    gather.element_size = 1;
    const int64_t position = gather_elements(threads, gather, data, indices, output);
    return position < 0 ? position : position / size;
}

}  // namespace

int64_t gather_elements(const Threads& threads, const Gather& given, const char* data, const char* indices, char* output) {
    if (count_positions(loops_of(given)) == 0) return ov_gather_done;
    if (!has_aligned_elements(given, data, output)) return gather_bytes(threads, given, data, indices, output);
    Gather gather = given;
    std::vector<Loop> loops = merged(loops_of(given), 2);  // a plane has two loops
    widen_elements(gather, loops, data, output);
    const int64_t count = count_positions(loops);
    const int64_t width = packed_width(gather, loops);
    if (width == 0) split_into_columns(loops, gather);
    const Plane plane = describe(gather, loops, count);
    const PlaneFunction gather_plane = planes_of(gather.element_size)[gather.index_size == 8];

    std::atomic<bool> in_bounds{true};
    const auto walk = [&](const Range& range) {
        Cursor cursor(loops, range.begin());
        for (int64_t left = range.size(); left > 0 && in_bounds.load(std::memory_order_relaxed);) {
            const int64_t length = std::min(cursor.left_in_line(), left);
            const bool whole = length == plane.line.size;
            const int64_t lines = whole ? std::min(cursor.left_in_plane(), left / length) : 1;
            if (!gather_plane(plane, data + cursor.data, indices + cursor.index, output + cursor.output, lines, length))
                in_bounds.store(false, std::memory_order_relaxed);
            left -= lines * length;
            whole ? cursor.advance_lines(lines) : cursor.advance_elements(length);
        }
    };

    // With packing, the walk has one step per column, and gather_column runs the two innermost loops.
    std::vector<Loop> columns;
    const Loop& line = plane.line;
    if (width != 0) {
        columns.assign(loops.begin(), loops.end() - 2);
        columns.push_back(
            {(line.size + width - 1) / width, line.index_stride * width, line.data_stride * width, line.output_stride * width});
    }
    const auto walk_columns = [&](const Range& range) {
        for (int64_t column = range.begin(); column < range.end() && in_bounds.load(std::memory_order_relaxed); ++column) {
            const Cursor cursor(columns, column);
            const int64_t wide = std::min(width, line.size - column % columns.back().size * width);
            if (!gather_column(threads, plane, gather_plane, gather.element_size, wide, data + cursor.data,
                               indices + cursor.index, output + cursor.output))
                in_bounds.store(false, std::memory_order_relaxed);
        }
    };

    const int64_t grain = threads.elements_per_thread();
    // One packed column is enough work for a thread. A small plane needs no walk.
    if (width != 0 && count > grain)
        threads.in_parallel(count_positions(columns), 1, walk_columns);
    else if (loops.size() == 2 && count <= grain)
        in_bounds = gather_plane(plane, data, indices, output, plane.lines.size, plane.line.size);
    else
        threads.in_parallel(count, grain, walk);
    if (in_bounds.load()) return ov_gather_done;
    // If another thread has changed the indices since, none may be out of bounds now, but the output is incomplete. Position 0
    // is returned then, and the caller's error message, which reads the index again, reports the change.
    return std::max<int64_t>(first_out_of_bounds(threads, given, indices), 0);
}

int64_t first_out_of_bounds(const Threads& threads, const Gather& gather, const char* indices) {
    return gather.index_size == 4 ? find_out_of_bounds<int32_t>(threads, gather, indices)
                                  : find_out_of_bounds<int64_t>(threads, gather, indices);
}

}  // namespace ov_gather
