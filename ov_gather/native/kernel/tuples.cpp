#include "tuples.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>

#include "caches.hpp"
#include "isa.hpp"
#include "threads.hpp"

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
int64_t flatten(const Index* tuples, int64_t count, const std::vector<int64_t>& dims, int64_t* flat) {
    uint64_t sizes[depth];
    std::copy_n(dims.begin(), depth, sizes);
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
int64_t flatten_long(const Index* tuples, int64_t count, const std::vector<int64_t>& dims, int64_t* flat) {
    for (int64_t i = 0; i < count; ++i) {
        flat[i] = 0;
        for (const int64_t size : dims) {
            int64_t index = read_once<Index>(tuples++);
            if (!wrap_index(index, size)) return i;
            flat[i] = flat[i] * size + index;
        }
    }
    return count;
}

template <typename Index>
int64_t flatten_part(const Index* tuples, int64_t count, const std::vector<int64_t>& dims, int64_t* flat) {
    switch (dims.size()) {
        case 1: return flatten<Index, 1>(tuples, count, dims, flat);
        case 2: return flatten<Index, 2>(tuples, count, dims, flat);
        case 3: return flatten<Index, 3>(tuples, count, dims, flat);
        case 4: return flatten<Index, 4>(tuples, count, dims, flat);
        default: return flatten_long(tuples, count, dims, flat);
    }
}

int64_t count_places(const std::vector<int64_t>& dims) {
    return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// Call `work` for parts of [0, count). It returns the first bad position in its part, or its end. Return the first of all, or
// all_in_bounds.
template <typename Work>
int64_t find_first(int64_t count, int64_t grain, const Work& work) {
    std::atomic<int64_t> first{count};
    in_parallel(count, grain, [&](const Range& range) {
        const int64_t found = work(range);
        int64_t seen = first.load();
        while (found < range.end() && found < seen && !first.compare_exchange_weak(seen, found)) {
        }
    });
    return first == count ? all_in_bounds : first.load();
}

template <typename Index>
int64_t flatten_all(const Index* indices, int64_t count, const std::vector<int64_t>& dims, int64_t* flat) {
    return find_first(count, grain, [&](const Range& range) {
        const int64_t start = range.begin();
        return start + flatten_part(indices + start * dims.size(), range.size(), dims, flat + start);
    });
}

// Describe slices as lines with one index; slices of 1, 2, 4, 8 or 16 aligned bytes as elements, blocks of which form a line.
Plane describe(const GatherTuples& gather, const char* data, const char* output, int64_t axis_size, int64_t& element_size) {
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
            reach > cached_bytes(),
            is_streamed(moved, reach, false),
            false};
}

template <typename Index>
int64_t gather_all(const GatherTuples& gather, const char* data, const Index* indices, char* output) {
    int64_t element_size;
    const int64_t axis_size = count_places(gather.dims), count = gather.batches * gather.tuples, depth = gather.dims.size();
    const int64_t bytes = gather.slice * gather.element_size;
    const Plane plane = describe(gather, data, output, axis_size, element_size);
    const PlaneFunction gather_plane = planes_of(element_size)[1];
    return find_first(count, std::clamp<int64_t>(slice_grain / bytes, 1, grain), [&](const Range& range) {
        int64_t flat[block];
        for (int64_t start = range.begin(), length; start < range.end(); start += length) {
            const int64_t batch = start / gather.tuples;
            length = std::min({block, range.end() - start, (batch + 1) * gather.tuples - start});
            const int64_t good = flatten_part(indices + start * depth, length, gather.dims, flat);
            if (good < length) return start + good;
            const bool is_line = plane.line.index_stride != 0;
            gather_plane(plane, data + batch * axis_size * bytes, reinterpret_cast<const char*>(flat), output + start * bytes,
                         is_line ? 1 : length, is_line ? length : gather.slice);
        }
        return range.end();
    });
}

}  // namespace

Gather with_flat_indices(const GatherTuples& gather, IndexType type) {
    const int64_t size = gather.element_size, slice = gather.slice * size, index_size = size_of(type);
    const int64_t axis_size = count_places(gather.dims);
    return {{{gather.batches, gather.tuples * index_size, axis_size * slice, gather.tuples * slice},
             {gather.tuples, index_size, 0, slice},
             {gather.slice, 0, size, size}},
            axis_size,
            slice,
            size,
            type};
}

int64_t gather_tuples(const GatherTuples& gather, const char* data, const char* indices, char* output) {
    if (gather.slice == 0 || gather.batches == 0 || gather.tuples == 0) {  // check the tuples, although nothing is gathered
        std::vector<int64_t> flat(gather.batches * gather.tuples);
        return flatten_tuples(indices, gather.index_type, flat.size(), gather.dims, flat.data());
    }
    if (gather.dims.size() == 1) {  // tuples of one coordinate are flat
        const int64_t position = gather_elements(with_flat_indices(gather, gather.index_type), data, indices, output);
        return position == all_in_bounds ? all_in_bounds : position / gather.slice;
    }
    return gather.index_type == IndexType::int32 ? gather_all(gather, data, reinterpret_cast<const int32_t*>(indices), output)
                                                 : gather_all(gather, data, reinterpret_cast<const int64_t*>(indices), output);
}

int64_t flatten_tuples(const char* indices, IndexType type, int64_t count, const std::vector<int64_t>& dims, int64_t* flat) {
    return type == IndexType::int32 ? flatten_all(reinterpret_cast<const int32_t*>(indices), count, dims, flat)
                                    : flatten_all(reinterpret_cast<const int64_t*>(indices), count, dims, flat);
}

}  // namespace ov_gather
