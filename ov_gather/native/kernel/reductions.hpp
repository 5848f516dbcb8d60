// Reductions of a scatter. Element type and reduction are dispatched once for all updates.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>

#include "lines.hpp"

namespace ov_gather {

enum class Reduction { none, sum, prod, min, max };

// Each step of a product is rounded, as in Python. std::complex would also handle infinities.
template <typename T>
struct Complex {
    T real, imag;

    friend Complex operator+(Complex a, Complex b) { return {a.real + b.real, a.imag + b.imag}; }
    friend Complex operator*(Complex a, Complex b) {
        return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
    }
    friend bool operator!=(Complex a, Complex b) { return a.real != b.real || a.imag != b.imag; }
    // NumPy's order: by the real part, then by the imaginary part; NaN is unordered.
    friend bool operator<(Complex a, Complex b) {
        const bool is_ordered = a.imag == a.imag && b.imag == b.imag;
        return is_ordered && (a.real < b.real || (a.real == b.real && a.imag < b.imag));
    }
    friend bool operator>(Complex a, Complex b) { return b < a; }
};

struct Replace {
    template <typename T>
    static T apply(T, T update) {
        return update;
    }
};

// Integers wrap around, as in NumPy; in C++ only unsigned arithmetic may.
template <typename Operator>
struct Arithmetic {
    template <typename T>
    static T apply(T old, T update) {
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(Operator()(static_cast<uint64_t>(old), static_cast<uint64_t>(update)));
        else
            return Operator()(old, update);
    }
};

// NaN propagates, as in np.minimum and np.maximum.
template <typename Order>
struct Extremum {
    template <typename T>
    static T apply(T old, T update) {
        return Order()(update, old) || update != update ? update : old;
    }
};

template <typename Element, typename Choice>
auto with_reduction(Reduction reduction, const Choice& choice) {
    switch (reduction) {
        case Reduction::sum: return choice(Element{}, Arithmetic<std::plus<>>{});
        case Reduction::prod: return choice(Element{}, Arithmetic<std::multiplies<>>{});
        case Reduction::min: return choice(Element{}, Extremum<std::less<>>{});
        case Reduction::max: return choice(Element{}, Extremum<std::greater<>>{});
        default: return choice(Element{}, Replace{});
    }
}

// Call `choice` with an element type and one of the reductions above, and return its result. `kind` is NumPy's: 'f', 'i', 'u'
// or 'c'; it is ignored without a reduction. Of elements of 16 bytes, only complex ones are reduced.
template <typename Choice>
auto with_element_type(char kind, int64_t element_size, Reduction reduction, const Choice& choice) {
    const bool reduces = reduction != Reduction::none, floating = reduces && kind == 'f', is_signed = reduces && kind == 'i',
               is_complex = reduces && kind == 'c';
    switch (element_size) {
        case 1: return is_signed ? with_reduction<int8_t>(reduction, choice) : with_reduction<uint8_t>(reduction, choice);
        case 2: return is_signed ? with_reduction<int16_t>(reduction, choice) : with_reduction<uint16_t>(reduction, choice);
        case 4:
            return floating    ? with_reduction<float>(reduction, choice)
                   : is_signed ? with_reduction<int32_t>(reduction, choice)
                               : with_reduction<uint32_t>(reduction, choice);
        case 8:
            return floating     ? with_reduction<double>(reduction, choice)
                   : is_complex ? with_reduction<Complex<float>>(reduction, choice)
                   : is_signed  ? with_reduction<int64_t>(reduction, choice)
                                : with_reduction<uint64_t>(reduction, choice);
        default: return is_complex ? with_reduction<Complex<double>>(reduction, choice) : choice(Bytes16{}, Replace{});
    }
}

}  // namespace ov_gather
