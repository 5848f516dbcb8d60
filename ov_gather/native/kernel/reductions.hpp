// A scatter lets an update take the place of an element, or reduces the two. Which element type and which reduction it is, is
// chosen once for all updates here.
#pragma once

#include <cstdint>
#include <type_traits>

namespace ov_gather {

enum class Reduction { none, sum, prod, min, max };

struct Bytes16 {
    uint64_t low, high;
};

// Both parts of a product are rounded after each step, as Python's are; the type of C++ would look for infinities, too.
template <typename T>
struct Complex {
    T real, imag;

    friend Complex operator+(Complex a, Complex b) { return {a.real + b.real, a.imag + b.imag}; }
    friend Complex operator*(Complex a, Complex b) {
        return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
    }
    friend bool operator!=(Complex a, Complex b) { return a.real != b.real || a.imag != b.imag; }
    // The order is NumPy's: by the real part, and where that is the same by the imaginary one; a NaN is in no order.
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

// Integers wrap around, as NumPy's do; in C++ only unsigned integers may.
struct Sum {
    template <typename T>
    static T apply(T old, T update) {
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(static_cast<uint64_t>(old) + static_cast<uint64_t>(update));
        else
            return old + update;
    }
};

struct Product {
    template <typename T>
    static T apply(T old, T update) {
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(static_cast<uint64_t>(old) * static_cast<uint64_t>(update));
        else
            return old * update;
    }
};

// A NaN wins, as in np.minimum and np.maximum.
struct Minimum {
    template <typename T>
    static T apply(T old, T update) {
        return update < old || update != update ? update : old;
    }
};

struct Maximum {
    template <typename T>
    static T apply(T old, T update) {
        return update > old || update != update ? update : old;
    }
};

template <typename Element, typename Choice>
auto with_reduction(Reduction reduction, const Choice& choice) {
    switch (reduction) {
        case Reduction::sum: return choice(Element{}, Sum{});
        case Reduction::prod: return choice(Element{}, Product{});
        case Reduction::min: return choice(Element{}, Minimum{});
        case Reduction::max: return choice(Element{}, Maximum{});
        default: return choice(Element{}, Replace{});
    }
}

// Returns what `choice` returns for an element type and one of the reductions above. `kind` is the kind of elements, as NumPy
// names it: 'f', 'i', 'u' or 'c'; it is ignored where nothing is reduced. Other elements of 16 bytes are not reduced.
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
