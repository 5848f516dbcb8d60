// The search for the first number outside of limits. Only for files compiled per instruction set: see lines.cpp.
#pragma once

#include <stdint.h>

#include "lines.hpp"

namespace ov_gather {
namespace {

// Numbers per block: a block is checked without branches, and searched only if a number lies outside.
constexpr int64_t limits_block = 4096;

template <int Size>
struct Bits;
template <>
struct Bits<1> {
    using Type = uint8_t;
};
template <>
struct Bits<2> {
    using Type = uint16_t;
};
template <>
struct Bits<4> {
    using Type = uint32_t;
};
template <>
struct Bits<8> {
    using Type = uint64_t;
};

// Return true if contiguous numbers lie within limits. NaN does not. The mask is as wide as a number: with a bool, compilers do
// not vectorize the loop, which then takes 5 times as long for int64.
template <typename Number>
bool are_within(const Number* numbers, int64_t count, Number low, Number high) {
    using Mask = typename Bits<sizeof(Number)>::Type;
    const Mask yes = static_cast<Mask>(-1), no = 0;
    Mask within = yes;
    for (int64_t i = 0; i < count; ++i) within &= (numbers[i] >= low ? yes : no) & (numbers[i] <= high ? yes : no);
    return within == yes;
}

template <typename Number>
int64_t first_outside(const char* numbers, int64_t count, int64_t stride, const void* limits) {
    const Number low = static_cast<const Number*>(limits)[0], high = static_cast<const Number*>(limits)[1];
    for (int64_t begin = 0; begin < count; begin += limits_block) {
        const int64_t end = count - begin < limits_block ? count : begin + limits_block;
        const char* const block = numbers + begin * stride;
        if (stride == sizeof(Number) && are_within(reinterpret_cast<const Number*>(block), end - begin, low, high)) continue;
        for (int64_t i = begin; i < end; ++i) {
            const Number number = *reinterpret_cast<const Number*>(numbers + i * stride);
            if (!(number >= low && number <= high)) return i;
        }
    }
    return -1;
}

}  // namespace
}  // namespace ov_gather
