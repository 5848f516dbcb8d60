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

// The same for integers, if high - low does not overflow: then number - low or high - number wraps around to a negative number
// if and only if the number is outside. SSE2 compares no int64: this takes a quarter of the time there.
template <typename Number>
bool are_within_narrow(const Number* numbers, int64_t count, Number low, Number high) {
    using Word = typename Bits<sizeof(Number)>::Type;
    const Word least = static_cast<Word>(low), greatest = static_cast<Word>(high);
    Word signs = 0;
    for (int64_t i = 0; i < count; ++i) {
        const Word word = static_cast<Word>(numbers[i]);
        signs |= static_cast<Word>(word - least) | static_cast<Word>(greatest - word);
    }
    return signs >> (8 * sizeof(Number) - 1) == 0;
}

template <typename Number>
bool are_all_within(const Number* numbers, int64_t count, Number low, Number high) {
    if constexpr (static_cast<Number>(0.5) == 0) {  // an integer
        using Word = typename Bits<sizeof(Number)>::Type;
        const Word span = static_cast<Word>(static_cast<Word>(high) - static_cast<Word>(low));
        if (low <= high && span >> (8 * sizeof(Number) - 1) == 0) return are_within_narrow(numbers, count, low, high);
    }
    return are_within(numbers, count, low, high);
}

template <typename Number>
int64_t first_outside(const char* numbers, int64_t count, int64_t stride, const void* limits) {
    const Number low = static_cast<const Number*>(limits)[0], high = static_cast<const Number*>(limits)[1];
    for (int64_t begin = 0; begin < count; begin += limits_block) {
        const int64_t end = count - begin < limits_block ? count : begin + limits_block;
        const char* const block = numbers + begin * stride;
        if (stride == sizeof(Number) && are_all_within(reinterpret_cast<const Number*>(block), end - begin, low, high))
            continue;
        for (int64_t i = begin; i < end; ++i) {
            const Number number = *reinterpret_cast<const Number*>(numbers + i * stride);
            if (!(number >= low && number <= high)) return i;
        }
    }
    return -1;
}

}  // namespace
}  // namespace ov_gather
