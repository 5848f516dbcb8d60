// Reductions of a scatter. Element type and reduction are dispatched once for all updates.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>

#include "lines.hpp"

namespace ov_gather {

using Reduction = ov_gather_reduction;

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

inline bool is_extremum(Reduction reduction) { return reduction == ov_gather_min || reduction == ov_gather_max; }

template <typename Element, typename Choice>
auto with_arithmetic(Reduction reduction, const Choice& choice) {
    return reduction == ov_gather_sum ? choice(Element{}, Arithmetic<std::plus<>>{})
                                      : choice(Element{}, Arithmetic<std::multiplies<>>{});
}

template <typename Element, typename Choice>
auto with_extremum(Reduction reduction, const Choice& choice) {
    return reduction == ov_gather_min ? choice(Element{}, Extremum<std::less<>>{})
                                      : choice(Element{}, Extremum<std::greater<>>{});
}

template <typename Element, typename Choice>
auto with_reduction(Reduction reduction, const Choice& choice) {
    return is_extremum(reduction) ? with_extremum<Element>(reduction, choice) : with_arithmetic<Element>(reduction, choice);
}

// Sums and products of signed and unsigned integers are the same bits.
template <typename Unsigned, typename Choice>
auto with_integer(bool is_signed, Reduction reduction, const Choice& choice) {
    if (reduction == ov_gather_replace) return choice(Unsigned{}, Replace{});
    return is_signed && is_extremum(reduction) ? with_extremum<std::make_signed_t<Unsigned>>(reduction, choice)
                                               : with_reduction<Unsigned>(reduction, choice);
}

// Call `choice` with an element type and one of the reductions above, and return its result. `kind` is NumPy's: 'f', 'i', 'u'
// or 'c'; it is ignored without a reduction. Of elements of 16 bytes, only complex ones are reduced.
template <typename Choice>
auto with_element_type(char kind, int64_t element_size, Reduction reduction, const Choice& choice) {
    const bool reduces = reduction != ov_gather_replace;
    if (reduces && kind == 'c')
        return element_size == 8 ? with_reduction<Complex<float>>(reduction, choice)
                                 : with_reduction<Complex<double>>(reduction, choice);
    if (reduces && kind == 'f')
        return element_size == 4 ? with_reduction<float>(reduction, choice) : with_reduction<double>(reduction, choice);
    switch (element_size) {
        case 1: return with_integer<uint8_t>(kind == 'i', reduction, choice);
        case 2: return with_integer<uint16_t>(kind == 'i', reduction, choice);
        case 4: return with_integer<uint32_t>(kind == 'i', reduction, choice);
        case 8: return with_integer<uint64_t>(kind == 'i', reduction, choice);
        default: return choice(Bytes16{}, Replace{});
    }
}

}  // namespace ov_gather
