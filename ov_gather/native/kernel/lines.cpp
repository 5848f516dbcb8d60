// This file is compiled once for each instruction set, which OV_GATHER_ISA names (see CMakeLists.txt). It includes nothing that
// defines inline functions: the linker may keep any one of their copies, and the baseline must not get one that was compiled
// for AVX-512.
#include "lines.hpp"

#include <stdint.h>
#include <string.h>

#if OV_GATHER_HAS_AVX
#include <immintrin.h>
#endif

namespace ov_gather {
namespace {

constexpr int64_t block = 512;             // so many indices are checked, then used, while in the first-level cache
constexpr int64_t index_prefetch = 1024;   // elements; indices so far ahead of a block are fetched
constexpr int64_t row_prefetch = 1 << 14;  // bytes; longer rows would evict data that is still needed
constexpr int64_t prefetch_ahead = 24;     // elements; so many loads in flight hide memory's latency
constexpr int64_t slices_ahead = 16;       // slices at most; fewer if they are long
constexpr int64_t slice_prefetch = 1024;   // bytes of a slice in flight; the hardware foresees the rest
constexpr int64_t tile_bytes = 64;         // bytes of a transposed output that are written at once: a cache line

struct Bytes16 {
    uint64_t low, high;
};

// Wraps negative indices into an axis of 2^31 elements or more. Returns false if one is out of bounds.
template <typename Index>
inline bool wrap(const Index* indices, int64_t count, int64_t axis_size, int64_t* wrapped) {
    bool in_bounds = true;
    for (int64_t i = 0; i < count; ++i) {
        int64_t index = read_once<Index>(indices + i);
        index += (index >> 63) & axis_size;
        wrapped[i] = index;
        in_bounds &= static_cast<uint64_t>(index) < static_cast<uint64_t>(axis_size);
    }
    return in_bounds;
}

// Wraps negative indices into a smaller axis, narrowed to 32 bits: half the memory, twice the elements in a vector register,
// and no branch. Stored indices are clamped, so that they are in bounds even if the compiler reads an index twice and another
// thread has changed it meanwhile. Returns false if one is out of bounds.
template <typename Index>
inline bool wrap(const Index* indices, int64_t count, int64_t axis_size, int32_t* wrapped) {
    const int32_t size = static_cast<int32_t>(axis_size);
    const uint32_t last = static_cast<uint32_t>(size) - 1;
    uint32_t out_of_bounds = size == 0;
    int64_t i = 0;
#if defined(__AVX2__)
    // The code that GCC makes of the loop below for int64 takes three times as long.
    if (sizeof(Index) == 8) {
        const __m256i sizes = _mm256_set1_epi32(size), lasts = _mm256_set1_epi32(static_cast<int32_t>(last));
        __m256i bad = _mm256_setzero_si256();
        for (; i + 8 <= count; i += 8) {
            const auto* from = reinterpret_cast<const float*>(indices + i);
            const __m256 first = _mm256_loadu_ps(from), second = _mm256_loadu_ps(from + 8);
            const __m256i low = _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0x88));
            const __m256i high = _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0xdd));
            const __m256i sign = _mm256_srai_epi32(low, 31);
            const __m256i index = _mm256_add_epi32(low, _mm256_and_si256(sign, sizes));
            const __m256i clamped = _mm256_min_epu32(index, lasts);
            bad = _mm256_or_si256(bad, _mm256_xor_si256(high, sign));  // is set where an index does not fit into 32 bits
            bad = _mm256_or_si256(bad, _mm256_xor_si256(clamped, index));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(wrapped + i), _mm256_permute4x64_epi64(clamped, 0xd8));
        }
        out_of_bounds |= !_mm256_testz_si256(bad, bad);
    }
#endif
    for (; i < count; ++i) {
        const Index given = indices[i];
        const int32_t low = static_cast<int32_t>(given);
        const uint32_t index = static_cast<uint32_t>(low + ((low >> 31) & size));
        const uint32_t clamped = index < last ? index : last;
        wrapped[i] = static_cast<int32_t>(clamped);
        out_of_bounds |= static_cast<uint32_t>(low != given) | (clamped ^ index);
    }
    return out_of_bounds == 0;
}

inline void stream(const char* from, char* to, int64_t bytes) {
#if OV_GATHER_HAS_AVX
    const int64_t head = -reinterpret_cast<intptr_t>(to) & 15;
    if (head <= bytes) {
        memcpy(to, from, head);
        int64_t at = head;
        for (; at + 16 <= bytes; at += 16)
            _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)));
        memcpy(to + at, from + at, bytes - at);
        return;
    }
#endif
    memcpy(to, from, bytes);
}

// `upcoming` are the indices of the next block, whose stream the hardware's prefetcher loses while this block is gathered.
template <typename Element, typename Offset, bool across, bool prefetch>
inline void take(const Element* data, int64_t step, const Offset* offsets, Element* __restrict output, int64_t count,
                 const char* upcoming, int64_t index_size) {
    const auto take_one = [=](int64_t i) {
        if (prefetch) {
            const int64_t ahead = i + prefetch_ahead < count ? i + prefetch_ahead : count - 1;
            fetch(data + offsets[ahead] * step + (across ? ahead : 0));
        }
        output[i] = data[offsets[i] * step + (across ? i : 0)];
    };
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        fetch(upcoming + i * index_size);
        for (int64_t k = 0; k < 8; ++k) take_one(i + k);
    }
    for (; i < count; ++i) take_one(i);
}

template <typename Element, typename Index, typename Offset>
inline void take_block(const Plane& plane, const Element* data, const Index* indices, const Offset* offsets, Element* output,
                       int64_t count) {
    const int64_t step = plane.axis_stride / static_cast<int64_t>(sizeof(Element));
    const auto* upcoming = reinterpret_cast<const char*>(indices + index_prefetch);
    constexpr int64_t size = sizeof(Index);
    if (plane.line.data_stride != 0) {
        if (plane.prefetch)
            take<Element, Offset, true, true>(data, step, offsets, output, count, upcoming, size);
        else
            take<Element, Offset, true, false>(data, step, offsets, output, count, upcoming, size);
    } else if (step == 1) {
        if (plane.prefetch)
            take<Element, Offset, false, true>(data, 1, offsets, output, count, upcoming, size);
        else
            take<Element, Offset, false, false>(data, 1, offsets, output, count, upcoming, size);
    } else {
        take<Element, Offset, false, false>(data, step, offsets, output, count, upcoming, size);
    }
}

template <typename Element, typename Index>
bool strided(const Plane& plane, const char* data, const char* indices, char* output, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
        int64_t index = read_once<Index>(indices + i * plane.line.index_stride);
        index += (index >> 63) & plane.axis_size;
        if (static_cast<uint64_t>(index) < static_cast<uint64_t>(plane.axis_size))
            memcpy(output + i * plane.line.output_stride, data + index * plane.axis_stride + i * plane.line.data_stride,
                   sizeof(Element));
        else if (plane.zero)
            memset(output + i * plane.line.output_stride, 0, sizeof(Element));
        else
            return false;
    }
    return true;
}

template <typename Element, typename Index>
bool contiguous(const Plane& plane, const char* data, const Index* indices, Element* output, int64_t count) {
    Element buffer[block];
    const bool narrow = plane.axis_size <= INT32_MAX;
    for (int64_t start = 0; start < count; start += block) {
        const int64_t length = count - start < block ? count - start : block;
        const auto* from = reinterpret_cast<const Element*>(data + start * plane.line.data_stride);
        Element* to = plane.stream ? buffer : output + start;
        bool in_bounds;
        if (narrow) {
            int32_t offsets[block];
            in_bounds = wrap(indices + start, length, plane.axis_size, offsets);
            if (in_bounds) take_block(plane, from, indices + start, offsets, to, length);
        } else {
            int64_t offsets[block];
            in_bounds = wrap(indices + start, length, plane.axis_size, offsets);
            if (in_bounds) take_block(plane, from, indices + start, offsets, to, length);
        }
        if (!in_bounds) {
            if (!plane.zero) return false;
            strided<Element, Index>(plane, reinterpret_cast<const char*>(from), reinterpret_cast<const char*>(indices + start),
                                    reinterpret_cast<char*>(output + start), length);
        } else if (plane.stream)
            stream(reinterpret_cast<const char*>(buffer), reinterpret_cast<char*>(output + start), length * sizeof(Element));
    }
    return true;
}

// Rows are read in an order that the hardware does not foresee, so the next one is fetched while this one is gathered.
inline void prefetch_row(const char* row, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += 64) fetch(row + at);
}

// Gathers lines that are columns of the output a tile at a time, and writes tiles across. `reach` bytes of a row are
// prefetched.
template <typename Element, typename Index>
bool transposed(const Plane& plane, const char* data, const char* indices, char* output, int64_t lines, int64_t count,
                int64_t reach) {
    constexpr int64_t size = sizeof(Element), height = tile_bytes / size;
    Element tile[height][block + height];  // longer than a block, because rows a power of two apart share cache sets
    Plane row = plane;
    row.line.output_stride = size;
    row.stream = false;
    const int64_t step = plane.line.output_stride;
    for (int64_t top = 0; top < lines; top += height) {
        const int64_t rows = lines - top < height ? lines - top : height;
        for (int64_t left = 0; left < count; left += block) {
            const int64_t columns = count - left < block ? count - left : block;
            for (int64_t i = 0; i < rows; ++i) {
                const char* from = data + (top + i) * plane.lines.data_stride + left * plane.line.data_stride;
                if (left == 0) prefetch_row(from + plane.lines.data_stride, reach);
                const char* where = indices + (top + i) * plane.lines.index_stride + left * plane.line.index_stride;
                if (!contiguous(row, from, reinterpret_cast<const Index*>(where), tile[i], columns)) return false;
            }
            for (int64_t j = 0; j < columns; ++j) {
                fetch_to_write(output + (left + j + prefetch_ahead) * step + top * size);
                auto* to = reinterpret_cast<Element*>(output + (left + j) * step) + top;
                if (rows == height)  // a constant, for the compiler
                    for (int64_t i = 0; i < height; ++i) to[i] = tile[i][j];
                else
                    for (int64_t i = 0; i < rows; ++i) to[i] = tile[i][j];
            }
        }
    }
    return true;
}

// Copies the slice that the one index of a whole line names.
template <typename Element>
bool constant(const Plane& plane, const char* data, int64_t index, char* output, int64_t count) {
    constexpr int64_t size = sizeof(Element);
    if (index < 0) index += plane.axis_size;
    if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(plane.axis_size)) {
        for (int64_t i = 0; plane.zero && i < count; ++i) memset(output + i * plane.line.output_stride, 0, size);
        return plane.zero;
    }
    data += index * plane.axis_stride;
    if (plane.line.data_stride == size && plane.line.output_stride == size) {
        if (plane.stream)
            stream(data, output, count * size);
        else
            memcpy(output, data, count * size);
        return true;
    }
    for (int64_t i = 0; i < count; ++i) memcpy(output + i * plane.line.output_stride, data + i * plane.line.data_stride, size);
    return true;
}

// Fetches the slice that an index names. The index may be out of bounds, because a prefetch may point anywhere.
inline void prefetch_slice(const Plane& plane, const char* data, int64_t index, int64_t bytes) {
    if (index < 0) index += plane.axis_size;
    const uintptr_t slice = reinterpret_cast<uintptr_t>(data) + static_cast<uint64_t>(index) * plane.axis_stride;
    for (int64_t at = 0; at < bytes && at < slice_prefetch; at += 64) fetch(reinterpret_cast<const char*>(slice + at));
}

template <typename Element, typename Index>
bool gather_plane(const Plane& plane, const char* data, const char* indices, char* output, int64_t lines, int64_t count) {
    constexpr int64_t size = sizeof(Element);
    const Loop& line = plane.line;
    const bool plain = line.index_stride == sizeof(Index) && plane.axis_stride % size == 0 &&
                       (line.data_stride == 0 || line.data_stride == size);
    const bool regular = plain && line.output_stride == size;
    const int64_t reach = plane.axis_size * plane.axis_stride;
    const bool prefetch = plain && line.data_stride == 0 && plane.lines.data_stride != 0 && reach <= row_prefetch;
    if (plain && !regular && plane.lines.output_stride == size)
        return transposed<Element, Index>(plane, data, indices, output, lines, count, prefetch ? reach : 0);
    const bool slices = line.index_stride == 0 && line.data_stride == size && plane.prefetch;
    const int64_t bytes = count * size, fit = slice_prefetch / bytes;
    const int64_t ahead = !slices ? lines : fit < 1 ? 1 : fit > slices_ahead ? slices_ahead : fit;
    for (int64_t i = 0; i < lines; ++i) {
        if (prefetch) prefetch_row(data + plane.lines.data_stride, reach);
        if (i + ahead < lines)
            prefetch_slice(plane, data + ahead * plane.lines.data_stride,
                           read_once<Index>(indices + ahead * plane.lines.index_stride), bytes);
        const bool in_bounds = line.index_stride == 0 ? constant<Element>(plane, data, read_once<Index>(indices), output, count)
                               : regular              ? contiguous(plane, data, reinterpret_cast<const Index*>(indices),
                                                                   reinterpret_cast<Element*>(output), count)
                                                      : strided<Element, Index>(plane, data, indices, output, count);
        if (!in_bounds) return false;
        data += plane.lines.data_stride;
        indices += plane.lines.index_stride;
        output += plane.lines.output_stride;
    }
#if OV_GATHER_HAS_AVX
    if (plane.stream) _mm_sfence();  // orders streamed stores before the signal to other threads that we are done
#endif
    return true;
}

}  // namespace

#define OV_GATHER_JOIN_(a, b) a##b
#define OV_GATHER_JOIN(a, b) OV_GATHER_JOIN_(a, b)
extern const PlaneTable OV_GATHER_JOIN(lines_, OV_GATHER_ISA);
const PlaneTable OV_GATHER_JOIN(lines_, OV_GATHER_ISA) = {
    {gather_plane<uint8_t, int32_t>, gather_plane<uint8_t, int64_t>},
    {gather_plane<uint16_t, int32_t>, gather_plane<uint16_t, int64_t>},
    {gather_plane<uint32_t, int32_t>, gather_plane<uint32_t, int64_t>},
    {gather_plane<uint64_t, int32_t>, gather_plane<uint64_t, int64_t>},
    {gather_plane<Bytes16, int32_t>, gather_plane<Bytes16, int64_t>},
};

}  // namespace ov_gather
