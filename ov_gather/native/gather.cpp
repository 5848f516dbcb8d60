// The walk: which loops, in which order, on which threads. What happens within a line is in lines.cpp.
#include "gather.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "isa.hpp"

namespace ov_gather {
namespace {

constexpr int64_t grain = 1 << 15;         // elements worth handing to another thread
constexpr int64_t near_cache = 1 << 18;    // bytes that stay close to one core, on any machine of the last ten years
constexpr int64_t column_block = 512;      // elements of a line, where the axis is not the last: keeps the slab it touches small

int64_t last_level_cache() {
#ifdef _SC_LEVEL3_CACHE_SIZE
    static const int64_t size = std::max<int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), 8 << 20);
    return size;
#else
    return 8 << 20;
#endif
}

int64_t count_positions(const std::vector<Loop>& loops) {
    int64_t count = 1;
    for (const Loop& loop : loops) count *= loop.size;
    return count;
}

// Fewer, longer loops visit the same positions in the same order: drop loops of one step, join neighbours that step as one.
std::vector<Loop> merged(const std::vector<Loop>& loops) {
    std::vector<Loop> result;
    for (const Loop& inner : loops) {
        if (inner.size == 1) continue;
        if (!result.empty()) {
            Loop& outer = result.back();
            if (outer.index_stride == inner.index_stride * inner.size &&
                outer.data_stride == inner.data_stride * inner.size &&
                outer.output_stride == inner.output_stride * inner.size) {
                outer = {outer.size * inner.size, inner.index_stride, inner.data_stride, inner.output_stride};
                continue;
            }
        }
        result.push_back(inner);
    }
    while (result.size() < 2) result.insert(result.begin(), {1, 0, 0, 0});  // a plane has two loops
    return result;
}

// The place of one position in the three arrays, and how to go on from it.
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

// Where the axis is not the last, a whole line reaches into as many rows as the axis has, each in another cache line. Narrow
// columns one after the other touch each cache line several times while it is there.
void split_into_columns(std::vector<Loop>& loops, const Gather& gather) {
    const Loop line = loops.back();
    if (line.data_stride == 0 || line.index_stride == 0 || line.size % column_block != 0 ||
        gather.axis_size * line.size * gather.element_size <= near_cache)
        return;
    size_t axis_level = loops.size() - 1;
    while (axis_level > 0 && loops[axis_level - 1].data_stride == 0) --axis_level;
    if (axis_level == loops.size() - 1) return;
    loops.back().size = column_block;
    loops.insert(loops.begin() + axis_level, {line.size / column_block, line.index_stride * column_block,
                                              line.data_stride * column_block, line.output_stride * column_block});
}

Plane describe(const Gather& gather, const std::vector<Loop>& loops, int64_t positions) {
    const Loop& line = loops.back();
    const int64_t index_size = gather.index_type == IndexType::int32 ? 4 : 8;
    const int64_t reach = gather.axis_size * std::abs(gather.axis_stride);
    const int64_t moved = positions * (2 * gather.element_size + (line.index_stride ? index_size : 0));
    return {loops[loops.size() - 2], line,  gather.axis_size, gather.axis_stride,
            reach > near_cache,      moved > last_level_cache()};
}

template <typename Index>
int64_t first_out_of_bounds(const Gather& gather, const char* indices) {
    const int64_t count = count_positions(gather.loops);
    Cursor cursor(gather.loops, 0);
    for (int64_t position = 0; position < count; ++position, cursor.advance_elements(1)) {
        const int64_t index = *reinterpret_cast<const Index*>(indices + cursor.index);
        if (index < -gather.axis_size || index >= gather.axis_size) return position;
    }
    return all_in_bounds;
}

std::shared_ptr<tbb::task_arena> own_arena;  // a gather that runs in it keeps it alive

}  // namespace

void set_num_threads(int count) { std::atomic_store(&own_arena, std::make_shared<tbb::task_arena>(count)); }

int64_t gather_elements(const Gather& gather, const char* data, const char* indices, char* output) {
    const int64_t count = count_positions(gather.loops);
    if (count == 0) return all_in_bounds;
    std::vector<Loop> loops = merged(gather.loops);
    split_into_columns(loops, gather);
    const Plane plane = describe(gather, loops, count);
    const PlaneFunction gather_plane =
        best_planes()[__builtin_ctzll(gather.element_size)][gather.index_type == IndexType::int64];

    std::atomic<bool> in_bounds{true};
    const auto run = [&](const tbb::blocked_range<int64_t>& range) {
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
    const tbb::blocked_range<int64_t> everything(0, count, grain);
    if (count <= grain)
        run(everything);
    else if (const auto arena = std::atomic_load(&own_arena))
        arena->execute([&] { tbb::parallel_for(everything, run); });
    else
        tbb::parallel_for(everything, run);
    if (in_bounds.load()) return all_in_bounds;
    return gather.index_type == IndexType::int32 ? first_out_of_bounds<int32_t>(gather, indices)
                                                 : first_out_of_bounds<int64_t>(gather, indices);
}

}  // namespace ov_gather
