#include "tuples.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>

#include "caches.hpp"
#include "gather.hpp"
#include "isa.hpp"
#include "loops.hpp"

namespace ov_gather {
namespace {

constexpr int64_t grain = 1 << 13;        // tuples per thread at least
constexpr int64_t slice_grain = 1 << 16;  // bytes of slices per thread at least
constexpr int64_t block = 2048;           // tuples flattened, then used, while in the first-level cache

// Flatten tuples of non-negative coordinates; return true if all are in bounds. A constant `depth` keeps them in registers.
template <typename Index, size_t depth>
bool flatten_counted(const Index* tuples, int64_t count, const uint64_t (&sizes)[depth], int64_t* flat) {
    bool in_bounds = true;
    for (int64_t i = 0; i < count; ++i) {
        uint64_t place = 0;
        for (size_t k = 0; k < depth; ++k) {
            const uint64_t index = read_once<Index>(tuples + i * depth + k);
            in_bounds &= index < sizes[k];
            place = place * sizes[k] + index;
        }
        flat[i] = place;
    }
    return in_bounds;
}

// Flatten tuples; return the number of tuples before the first that is out of bounds.
template <typename Index, size_t depth>
int64_t flatten(const Index* tuples, int64_t count, const int64_t* dims, int64_t* flat) {
    uint64_t sizes[depth];
    std::copy_n(dims, depth, sizes);
    if (flatten_counted<Index, depth>(tuples, count, sizes, flat)) return count;
    for (int64_t i = 0; i < count; ++i) {
        uint64_t place = 0;
        bool in_bounds = true;
        for (size_t k = 0; k < depth; ++k) {
            const int64_t given = read_once<Index>(tuples + i * depth + k);
            const uint64_t index = given + ((given >> 63) & sizes[k]);
            in_bounds &= index < sizes[k];
            place = place * sizes[k] + index;
        }
        if (!in_bounds) return i;
        flat[i] = place;
    }
    return count;
}

template <typename Index>
int64_t flatten_long(const Index* tuples, int64_t count, const Tuples& given, int64_t* flat) {
    for (int64_t i = 0; i < count; ++i) {
        flat[i] = 0;
        for (int64_t k = 0; k < given.dim_count; ++k) {
            int64_t index = read_once<Index>(tuples++);
            if (!wrap_index(index, given.dims[k])) return i;
            flat[i] = flat[i] * given.dims[k] + index;
        }
    }
    return count;
}

template <typename Index>
int64_t flatten_part(const Index* tuples, int64_t count, const Tuples& given, int64_t* flat) {
    switch (given.dim_count) {
        case 1: return flatten<Index, 1>(tuples, count, given.dims, flat);
        case 2: return flatten<Index, 2>(tuples, count, given.dims, flat);
        case 3: return flatten<Index, 3>(tuples, count, given.dims, flat);
        case 4: return flatten<Index, 4>(tuples, count, given.dims, flat);
        default: return flatten_long(tuples, count, given, flat);
    }
}

int64_t count_places(const Tuples& given) {
    return std::accumulate(given.dims, given.dims + given.dim_count, int64_t{1}, std::multiplies<>());
}

// Call `work` for parts of [0, count). It returns the first bad position in its part, or its end. Return the first of all, or
// ov_gather_done.
template <typename Work>
int64_t find_first(const Threads& threads, int64_t count, int64_t grain, const Work& work) {
    std::atomic<int64_t> first{count};
    threads.in_parallel(count, grain, [&](const Range& range) {
        const int64_t found = work(range);
        int64_t seen = first.load();
        while (found < range.end() && found < seen && !first.compare_exchange_weak(seen, found)) {
        }
    });
    return first == count ? ov_gather_done : first.load();
}

template <typename Index>
int64_t flatten_all(const Threads& threads, const Tuples& given, const Index* indices, int64_t* flat) {
    return find_first(threads, given.batches * given.tuples, grain, [&](const Range& range) {
        const int64_t start = range.begin();
        return start + flatten_part(indices + start * given.dim_count, range.size(), given, flat + start);
    });
}

// Describe slices as lines with one index; slices of 1, 2, 4, 8 or 16 aligned bytes as elements, blocks of which form a line.
Plane describe(const Tuples& gather, const char* data, const char* output, int64_t axis_size, int64_t& element_size) {
    const int64_t bytes = gather.slice * gather.element_size, index_size = sizeof(int64_t);
    const int64_t reach = axis_size * bytes;
    const int64_t moved = gather.batches * gather.tuples * (2 * bytes + index_size);
    const bool is_element = bytes <= 16 && (bytes & (bytes - 1)) == 0 && reinterpret_cast<uintptr_t>(data) % bytes == 0 &&
                            reinterpret_cast<uintptr_t>(output) % bytes == 0;
    element_size = is_element ? bytes : gather.element_size;
    const Loop many{block, index_size, 0, bytes}, line{gather.slice, 0, element_size, element_size};
    return {is_element ? Loop{1, 0, 0, 0} : many,
            is_element ? many : line,
            axis_size,
            bytes,
            0,
            is_beyond_near(reach),
            is_near(reach),
            has_fast_gathers(),
            reach > cached_bytes(),
            is_streamed(moved, reach, false),
            false};
}

template <typename Index>
int64_t gather_all(const Threads& threads, const Tuples& gather, const char* data, const Index* indices, char* output) {
    int64_t element_size;
    const int64_t axis_size = count_places(gather), count = gather.batches * gather.tuples, depth = gather.dim_count;
    const int64_t bytes = gather.slice * gather.element_size;
    const Plane plane = describe(gather, data, output, axis_size, element_size);
    const PlaneFunction gather_plane = planes_of(element_size)[1];
    return find_first(threads, count, std::clamp<int64_t>(slice_grain / bytes, 1, grain), [&](const Range& range) {
        int64_t flat[block];
        for (int64_t start = range.begin(), length; start < range.end(); start += length) {
            const int64_t batch = start / gather.tuples;
            length = std::min({block, range.end() - start, (batch + 1) * gather.tuples - start});
            const int64_t good = flatten_part(indices + start * depth, length, gather, flat);
            if (good < length) return start + good;
            const bool is_line = plane.line.index_stride != 0;
            gather_plane(plane, data + batch * axis_size * bytes, reinterpret_cast<const char*>(flat), output + start * bytes,
                         is_line ? 1 : length, is_line ? length : gather.slice);
        }
        return range.end();
    });
}

// Gather by tuples of one coordinate, which are flat.
int64_t gather_flat(const Threads& threads, const Tuples& given, const char* data, const char* indices, char* output) {
    const int64_t size = given.element_size, slice = given.slice * size, axis_size = given.dims[0];
    const Loop loops[] = {{given.batches, given.tuples * given.index_size, axis_size * slice, given.tuples * slice},
                          {given.tuples, given.index_size, 0, slice},
                          {given.slice, 0, size, size}};
    const int64_t position =
        gather_elements(threads, {loops, 3, axis_size, slice, size, given.index_size, 0}, data, indices, output);
    return position == ov_gather_done ? position : position / given.slice;
}

}  // namespace

int64_t gather_tuples(const Threads& threads, const Tuples& elements, const char* data, const char* indices, char* output) {
    Tuples given = elements;
    if (!is_aligned(data, given.element_size) || !is_aligned(output, given.element_size)) {  // gather slices of bytes
        given.slice *= given.element_size;
        given.element_size = 1;
    }
    if (given.slice == 0 || given.batches == 0 || given.tuples == 0) {  // check the tuples, although nothing is gathered
        std::vector<int64_t> flat(given.batches * given.tuples);
        return flatten_tuples(threads, given, indices, flat.data());
    }
    if (given.dim_count == 1) return gather_flat(threads, given, data, indices, output);
    return given.index_size == 4 ? gather_all(threads, given, data, reinterpret_cast<const int32_t*>(indices), output)
                                 : gather_all(threads, given, data, reinterpret_cast<const int64_t*>(indices), output);
}

int64_t flatten_tuples(const Threads& threads, const Tuples& given, const char* indices, int64_t* flat) {
    return given.index_size == 4 ? flatten_all(threads, given, reinterpret_cast<const int32_t*>(indices), flat)
                                 : flatten_all(threads, given, reinterpret_cast<const int64_t*>(indices), flat);
}

}  // namespace ov_gather
