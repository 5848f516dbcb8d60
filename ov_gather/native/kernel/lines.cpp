// Compiled once per instruction set, named by OV_GATHER_ISA (see CMakeLists.txt). It must not include headers that define
// inline functions: the linker keeps any one of their copies, and might keep one compiled for AVX-512 for the baseline. What it
// includes has functions that are static or in anonymous namespaces.
#include "lines.hpp"

#include <stdint.h>

#include "aggregate_rows.hpp"
#include "line_blocks.hpp"
#include "line_columns.hpp"
#include "line_limits.hpp"
#include "line_slices.hpp"
#include "short_lines.hpp"

namespace ov_gather {
namespace {

// Rows of data up to this many bytes are prefetched; longer ones would evict data in use. Gather instructions gain nothing from
// it, and lose 1.15 if only a part of each row is gathered (deberta_large on Granite Rapids).
constexpr int64_t row_prefetch = 1 << 14;

template <typename Element, typename Index>
bool gather_lines(const Plane& plane, const char* data, const char* indices, char* output, int64_t lines, int64_t count) {
    constexpr int64_t size = sizeof(Element);
    const Loop& line = plane.line;
    const bool plain = line.index_stride == sizeof(Index) && plane.axis_stride % size == 0 &&
                       (line.data_stride == 0 || line.data_stride == size);
    const bool regular = plain && line.output_stride == size;
    const int64_t reach = plane.axis_size * plane.axis_stride;
    const bool prefetch =
        !plane.gathers && plain && line.data_stride == 0 && plane.lines.data_stride != 0 && reach <= row_prefetch;
    if (plain && !regular && plane.lines.output_stride == size)
        return transposed<Element, Index>(plane, data, indices, output, lines, count, prefetch ? reach : 0);
    if (regular && are_short<Element, Index>(plane, lines, count))
        return short_lines(plane, data, reinterpret_cast<const Index*>(indices), reinterpret_cast<Element*>(output), lines,
                           count);
    if (line.index_stride == 0 && line.data_stride == size && line.output_stride == size)
        return slices<Index>(plane, data, indices, output, lines, count * size);
    // Each line fetches its share of the next plane, in whole cache lines.
    const int64_t share = plane.next == 0 ? 0 : (reach / plane.lines.size + 63) / 64 * 64;
    const char* next = data + plane.next;
    for (int64_t i = 0; i < lines; ++i) {
        for (const char* const end = next + share; next < end; next += 64) fetch_far(next);
        if (prefetch) prefetch_row(data + plane.lines.data_stride, reach);
        const bool in_bounds = line.index_stride == 0 ? constant<Element>(plane, data, read_once<Index>(indices), output, count)
                               : regular              ? contiguous(plane, data, reinterpret_cast<const Index*>(indices),
                                                                   reinterpret_cast<Element*>(output), count)
                                                      : strided<Element, Index>(plane, data, indices, output, count);
        if (!in_bounds) return false;
        data += plane.lines.data_stride;
        indices += plane.lines.index_stride;
        output += plane.lines.output_stride;
    }
    return true;
}

template <typename Element, typename Index>
bool gather_plane(const Plane& plane, const char* data, const char* indices, char* output, int64_t lines, int64_t count) {
    const bool in_bounds = gather_lines<Element, Index>(plane, data, indices, output, lines, count);
#if OV_GATHER_HAS_AVX
    if (plane.stream) _mm_sfence();  // makes streamed stores visible before we signal other threads
#endif
    return in_bounds;
}

}  // namespace

#define OV_GATHER_JOIN_(a, b) a##b
#define OV_GATHER_JOIN(a, b) OV_GATHER_JOIN_(a, b)
extern const LineFunctions OV_GATHER_JOIN(lines_, OV_GATHER_ISA);
const LineFunctions OV_GATHER_JOIN(lines_, OV_GATHER_ISA) = {
    {{gather_plane<uint8_t, int32_t>, gather_plane<uint8_t, int64_t>},
     {gather_plane<uint16_t, int32_t>, gather_plane<uint16_t, int64_t>},
     {gather_plane<uint32_t, int32_t>, gather_plane<uint32_t, int64_t>},
     {gather_plane<uint64_t, int32_t>, gather_plane<uint64_t, int64_t>},
     {gather_plane<Bytes16, int32_t>, gather_plane<Bytes16, int64_t>}},
    {wrap_indices<int32_t>, wrap_indices<int64_t>},
    {all_same<int32_t>, all_same<int64_t>},
    {{first_outside<int8_t>, first_outside<int16_t>, first_outside<int32_t>, first_outside<int64_t>},
     {first_outside<uint8_t>, first_outside<uint16_t>, first_outside<uint32_t>, first_outside<uint64_t>},
     {nullptr, nullptr, first_outside<float>, first_outside<double>}},
    {aggregate<float>, aggregate<Half>, aggregate<BFloat>},
};

}  // namespace ov_gather
