// Gathers rows of data and reduces them to rows of the output, in float32.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "lines.hpp"

namespace ov_gather {
namespace {

struct Half {
    uint16_t bits;
};

struct BFloat {
    uint16_t bits;
};

inline float float_of(uint32_t bits) {
    float result;
    memcpy(&result, &bits, sizeof(result));
    return result;
}

inline uint32_t bits_of(float value) {
    uint32_t result;
    memcpy(&result, &value, sizeof(result));
    return result;
}

inline float widen(float value) { return value; }

inline float widen(BFloat value) { return float_of(uint32_t{value.bits} << 16); }

// A denormal is 2^-14 * (1 + fraction) - 2^-14: no operand is a denormal float, which a thread may treat as 0. Other numbers
// take the same steps, because GCC does not vectorize loops with a subtraction behind a condition.
inline float widen(Half value) {
    constexpr uint32_t bias = 112u << 23;   // the difference of the exponents' biases; once more for infinity and NaN
    constexpr uint32_t least = 113u << 23;  // 2^-14
    const uint32_t magnitude = value.bits & 0x7fffu, sign = (value.bits & 0x8000u) << 16;
    const uint32_t added = magnitude < 0x400u ? least : magnitude < 0x7c00u ? bias : 2 * bias;
    const float result = float_of((magnitude << 13) + added) - float_of(magnitude < 0x400u ? least : 0);
    return float_of(bits_of(result) | sign);
}

// Round to the nearest, ties to even; NaN becomes quiet.
inline void narrow(float value, float& to) { to = value; }

inline void narrow(float value, BFloat& to) {
    const uint32_t bits = bits_of(value), rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    to.bits = static_cast<uint16_t>(value != value ? bits >> 16 | 0x40 : rounded);
}

// No branch depends on the value, so that loops are vectorized.
inline void narrow(float value, Half& to) {
    constexpr uint32_t least = 113u << 23;  // 2^-14: below it, adding 0.5 rounds to multiples of 2^-24
    const uint32_t magnitude = bits_of(value) & 0x7fffffffu, sign = bits_of(value) >> 16 & 0x8000u;
    const uint32_t denormal = bits_of(float_of(magnitude < least ? magnitude : 0) + 0.5f) - bits_of(0.5f);
    uint32_t half = (magnitude + 0xfff + (magnitude >> 13 & 1) - (112u << 23)) >> 13;
    half = magnitude < least ? denormal : half;
    half = magnitude >= 0x477ff000u ? 0x7c00u : half;  // 65520, which rounds to infinity
    half = magnitude > 0x7f800000u ? 0x7e00u | (magnitude >> 13 & 0x3ffu) : half;
    to.bits = static_cast<uint16_t>(half | sign);
}

// Return 1 of this type. A product with it is the other factor, so that edges without weights need no loops of their own.
template <typename Element>
Element one_as() {
    Element result;
    narrow(1.0f, result);
    return result;
}

struct Sum {
    static constexpr float neutral = 0;
    static float apply(float old, float update) { return old + update; }
};

// NaN propagates.
struct Greatest {
    static constexpr float neutral = -INFINITY;
    static float apply(float old, float update) { return update > old || update != update ? update : old; }
};

constexpr int64_t edges_ahead = 8;  // rows of data are prefetched this far ahead

// Reduce `count` columns, or `fixed` if that is not 0, from column `first`. `weights` are those of edge 0: one for all of these
// columns, or `each` has its own. `sign` is the sign bit if values are to be negated, before and after.
template <typename Element, typename Reduce, bool each, int64_t fixed>
void reduce_columns(const Aggregate& work, int64_t row, int64_t first, int64_t count, const char* weights, uint32_t sign) {
    constexpr int64_t most = fixed ? fixed : 16;
    const int64_t columns = fixed ? fixed : count;
    float result[most];
    for (int64_t column = 0; column < columns; ++column) result[column] = Reduce::neutral;
    const auto* const data = reinterpret_cast<const Element*>(work.data) + first;
    const int32_t begin = work.starts[row], end = work.starts[row + 1];
    for (int32_t k = begin; k < end; ++k) {
        const Element* const from = data + work.sources[k] * work.width;
        const Element* const weight = reinterpret_cast<const Element*>(weights) + work.edges[k] * work.weight_count;
        const float only = each ? 0.0f : widen(weight[0]);  // in the loop, it would keep GCC from vectorizing
        for (int64_t column = 0; column < columns; ++column) {
            const float value = (each ? widen(weight[column]) : only) * widen(from[column]);
            result[column] = Reduce::apply(result[column], float_of(bits_of(value) ^ sign));
        }
    }
    auto* const to = reinterpret_cast<Element*>(work.output) + row * work.width + first;
    const float divisor = work.mean ? static_cast<float>(end - begin) : 1.0f;
    for (int64_t column = 0; column < columns; ++column)
        narrow(begin == end ? 0.0f : float_of(bits_of(result[column] / divisor) ^ sign), to[column]);
}

static OV_GATHER_INLINE void prefetch_edges(const Aggregate& work, int64_t row, int64_t row_bytes, int64_t weight_bytes) {
    for (int32_t k = work.starts[row] + edges_ahead; k < work.starts[row + 1] + edges_ahead; ++k) {
        for (int64_t at = 0; at < row_bytes; at += 64) fetch(work.data + work.sources[k] * row_bytes + at);
        for (int64_t at = 0; at < weight_bytes; at += 64) fetch(work.weights + work.edges[k] * weight_bytes + at);
    }
}

template <typename Element, typename Reduce, bool each>
void aggregate_rows(const Aggregate& work, int64_t first, int64_t last) {
    const Element one = one_as<Element>();
    const char* const weights = work.weight_count == 0 ? reinterpret_cast<const char*>(&one) : work.weights;
    const int64_t groups = each || work.weight_count == 0 ? 1 : work.weight_count, group_size = work.width / groups;
    const int64_t row_bytes = work.width * sizeof(Element), weight_bytes = work.weight_count * sizeof(Element);
    const uint32_t sign = work.reduction == ov_gather_min ? 0x80000000u : 0;
    for (int64_t row = first; row < last; ++row) {
        prefetch_edges(work, row, row_bytes, weight_bytes);
        for (int64_t column = 0, group = 0; column < work.width; ++group) {
            const auto of_columns = [&] { return weights + (each ? column : group) * sizeof(Element); };
            const int64_t end = column + group_size;
            for (; column + 64 <= end; column += 64)
                reduce_columns<Element, Reduce, each, 64>(work, row, column, 64, of_columns(), sign);
            for (; column + 16 <= end; column += 16)
                reduce_columns<Element, Reduce, each, 16>(work, row, column, 16, of_columns(), sign);
            if (column < end) reduce_columns<Element, Reduce, each, 0>(work, row, column, end - column, of_columns(), sign);
            column = end;
        }
    }
}

template <typename Element>
void aggregate(const Aggregate& work, int64_t first, int64_t last) {
    const bool each = work.weight_count == work.width && work.width > 1;
    if (work.reduction == ov_gather_sum)
        (each ? aggregate_rows<Element, Sum, true> : aggregate_rows<Element, Sum, false>)(work, first, last);
    else
        (each ? aggregate_rows<Element, Greatest, true> : aggregate_rows<Element, Greatest, false>)(work, first, last);
}

}  // namespace
}  // namespace ov_gather
