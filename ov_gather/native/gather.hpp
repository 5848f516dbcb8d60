// GatherElements on strided arrays: out[p] = data[p with its axis coordinate replaced by indices[p]], for every position p of
// indices. ONNX GatherElements-13: negative indices count from the end, indices may be smaller than data off the axis.
// No dependency but TBB.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

namespace ov_gather {

// One loop of the walk over the positions of indices. Strides count elements; data_stride is 0 for the axis, whose
// coordinate comes from indices.
struct Loop {
    int64_t size;
    int64_t index_stride;
    int64_t data_stride;
    int64_t output_stride;
};

struct Gather {
    std::vector<Loop> loops;  // outermost first
    int64_t axis_size;
    int64_t axis_stride;

    int64_t position_count() const {
        int64_t count = 1;
        for (const Loop& loop : loops) count *= loop.size;
        return count;
    }
};

// Elements are moved, never interpreted: one unsigned type per element size serves every element type.
struct Bytes16 {
    uint64_t low, high;
};

constexpr int64_t all_in_bounds = -1;

// Fewer, longer loops visit the same positions in the same order: drop loops of one step, join neighbours that step as one.
inline void merge_loops(std::vector<Loop>& loops) {
    std::vector<Loop> merged;
    for (const Loop& inner : loops) {
        if (inner.size == 1) continue;
        if (!merged.empty()) {
            Loop& outer = merged.back();
            if (outer.index_stride == inner.index_stride * inner.size &&
                outer.data_stride == inner.data_stride * inner.size &&
                outer.output_stride == inner.output_stride * inner.size) {
                outer = {outer.size * inner.size, inner.index_stride, inner.data_stride, inner.output_stride};
                continue;
            }
        }
        merged.push_back(inner);
    }
    if (merged.empty()) merged.push_back({1, 0, 0, 0});
    loops = std::move(merged);
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

    void advance(int64_t count) {
        size_t level = m_loops.size() - 1;
        step(level, count);
        while (level > 0 && m_at[level] == m_loops[level].size) {
            step(level, -m_at[level]);
            step(--level, 1);
        }
    }

    int64_t index = 0, data = 0, output = 0;

private:
    void step(size_t level, int64_t count) {
        m_at[level] += count;
        index += count * m_loops[level].index_stride;
        data += count * m_loops[level].data_stride;
        output += count * m_loops[level].output_stride;
    }

    const std::vector<Loop>& m_loops;
    std::vector<int64_t> m_at;
};

// Gathers `count` elements along the innermost loop. Returns how many were in bounds before the first that was not.
template <typename Element, typename Index>
int64_t gather_line(const Gather& gather, const Element* data, const Index* indices, Element* output, int64_t count) {
    const Loop& line = gather.loops.back();
    for (int64_t i = 0; i < count; ++i) {
        int64_t index = indices[i * line.index_stride];
        if (index < 0) index += gather.axis_size;
        if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(gather.axis_size)) return i;
        output[i * line.output_stride] = data[index * gather.axis_stride + i * line.data_stride];
    }
    return count;
}

// Returns all_in_bounds, or the first position (row-major in indices) whose index is out of bounds: the same one whatever the
// number of threads. Nothing out of bounds is read; the output is then partly written.
template <typename Element, typename Index>
int64_t gather_elements(Gather gather, const Element* data, const Index* indices, Element* output) {
    constexpr int64_t none = std::numeric_limits<int64_t>::max();
    constexpr int64_t grain = 1 << 15;  // elements worth handing to another thread
    const int64_t count = gather.position_count();
    if (count == 0) return all_in_bounds;
    merge_loops(gather.loops);

    std::atomic<int64_t> first_bad{none};
    const auto run = [&](const tbb::blocked_range<int64_t>& range) {
        Cursor cursor(gather.loops, range.begin());
        for (int64_t position = range.begin(); position < range.end();) {
            if (position > first_bad.load(std::memory_order_relaxed)) return;
            const int64_t wanted = std::min(cursor.left_in_line(), range.end() - position);
            const int64_t done =
                gather_line(gather, data + cursor.data, indices + cursor.index, output + cursor.output, wanted);
            if (done < wanted) {
                const int64_t bad = position + done;
                int64_t known = first_bad.load();
                while (bad < known && !first_bad.compare_exchange_weak(known, bad)) {
                }
                return;
            }
            position += wanted;
            cursor.advance(wanted);
        }
    };
    const tbb::blocked_range<int64_t> everything(0, count, grain);
    if (count <= grain)
        run(everything);
    else
        tbb::parallel_for(everything, run);
    const int64_t bad = first_bad.load();
    return bad == none ? all_in_bounds : bad;
}

}  // namespace ov_gather
