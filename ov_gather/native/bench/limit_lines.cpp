// Compiled once per instruction set, named by OV_GATHER_ISA. Must not include inline functions: see lines.cpp.
#include "limit_lines.hpp"

#include <string.h>

#include "line_blocks.hpp"

namespace ov_gather {
namespace {

struct Bytes16 {
    uint64_t low, high;
};

inline int64_t upto(int64_t at, int64_t count) { return at < count ? at : count - 1; }

template <typename Element, Loads loads, bool streamed>
void take_elements(const char* data, const int32_t* offsets, char* output, int64_t count, int64_t) {
    constexpr int64_t size = sizeof(Element);
    const auto* from = reinterpret_cast<const Element*>(data);
    Element buffer[block];
    for (int64_t start = 0; start < count; start += block) {
        const int64_t end = start + block < count ? start + block : count;
        Element* __restrict to = streamed ? buffer : reinterpret_cast<Element*>(output) + start;
        for (int64_t i = start; i < end; ++i) {
            if (loads == fetched_twice) fetch_far(from + offsets[upto(i + far_ahead, count)]);
            if (loads != plain) fetch(from + offsets[upto(i + prefetch_ahead, count)]);
            to[i - start] = from[offsets[i]];
        }
        if (streamed) stream(reinterpret_cast<const char*>(buffer), output + start * size, (end - start) * size);
    }
}

template <Loads loads, bool streamed>
void take_slices(const char* data, const int32_t* offsets, char* output, int64_t count, int64_t unit) {
    const int64_t most = loads == fetched ? 2048 : 8192, ahead = most / unit < 1 ? 1 : most / unit > 64 ? 64 : most / unit;
    for (int64_t i = 0; i < count; ++i) {
        const char* const next = data + offsets[upto(i + ahead, count)] * unit;
        const int64_t head = reinterpret_cast<intptr_t>(next) & 63;
        for (int64_t at = -head; loads != plain && at < unit && at < most; at += 64) fetch(next + at);
        const char* const from = data + offsets[i] * unit;
        char* const to = output + i * unit;
        if (streamed)
            stream(from, to, unit);
        else if (unit == 64)
            memcpy(to, from, 64);
        else if (unit == 256)
            memcpy(to, from, 256);
        else
            memcpy(to, from, unit);
    }
}

#if OV_GATHER_VECTOR_GATHER
template <typename Element, bool streamed>
void take_vectors(const char* data, const int32_t* offsets, char* output, int64_t count, int64_t) {
    const auto* from = reinterpret_cast<const Element*>(data);
    auto* to = reinterpret_cast<Element*>(output);
    const int64_t head = streamed ? (-reinterpret_cast<intptr_t>(output) & 63) / static_cast<int64_t>(sizeof(Element)) : 0;
    int64_t i = 0;
    for (; i < head && i < count; ++i) to[i] = from[offsets[i]];
    for (; i + lanes <= count; i += lanes)
        gather_to<true, streamed>(to + i, from, _mm512_loadu_si512(offsets + i), 0xFFFF, 0xFFFF);
    for (; i < count; ++i) to[i] = from[offsets[i]];
}
#define OV_GATHER_VECTORS(streamed)    \
    {take_vectors<uint8_t, streamed>,  \
     take_vectors<uint16_t, streamed>, \
     take_vectors<uint32_t, streamed>, \
     take_vectors<uint64_t, streamed>, \
     nullptr,                          \
     nullptr}
#else
#define OV_GATHER_VECTORS(streamed) {nullptr}
#endif

template <bool fetches, bool adds>
void put(const float* updates, const int32_t* offsets, float* output, int64_t count, int64_t unit) {
    for (int64_t i = 0; i < count; ++i) {
        if (fetches) fetch_to_write(output + offsets[upto(i + prefetch_ahead, count)]);
        float* const __restrict to = output + offsets[i];
        const float* const __restrict from = updates + i * unit;
        if (unit == 1)
            *to = adds ? *to + *from : *from;
        else if (adds)
            for (int64_t k = 0; k < unit; ++k) to[k] += from[k];
        else
            memcpy(to, from, unit * sizeof(float));
    }
}

}  // namespace

#define OV_GATHER_TAKE(loads, streamed)                                                  \
    {take_elements<uint8_t, loads, streamed>,  take_elements<uint16_t, loads, streamed>, \
     take_elements<uint32_t, loads, streamed>, take_elements<uint64_t, loads, streamed>, \
     take_elements<Bytes16, loads, streamed>,  take_slices<loads, streamed>}
#define OV_GATHER_BOTH(take, loads) {take(loads, false), take(loads, true)}
#define OV_GATHER_JOIN_(a, b) a##b
#define OV_GATHER_JOIN(a, b) OV_GATHER_JOIN_(a, b)
extern const LimitLines OV_GATHER_JOIN(limits_, OV_GATHER_ISA);
const LimitLines OV_GATHER_JOIN(limits_, OV_GATHER_ISA) = {
    {OV_GATHER_BOTH(OV_GATHER_TAKE, plain),
     OV_GATHER_BOTH(OV_GATHER_TAKE, fetched),
     OV_GATHER_BOTH(OV_GATHER_TAKE, fetched_twice),
     {OV_GATHER_VECTORS(false), OV_GATHER_VECTORS(true)}},
    {{put<false, false>, put<false, true>}, {put<true, false>, put<true, true>}},
};

}  // namespace ov_gather
