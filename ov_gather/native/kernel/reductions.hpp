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
        if constexpr (std::is_floating_point_v<T>)
            return old + update;
        else
            return static_cast<T>(static_cast<uint64_t>(old) + static_cast<uint64_t>(update));
    }
};

struct Product {
    template <typename T>
    static T apply(T old, T update) {
        if constexpr (std::is_floating_point_v<T>)
            return old * update;
        else
            return static_cast<T>(static_cast<uint64_t>(old) * static_cast<uint64_t>(update));
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
// names it: 'f', 'i' or 'u'; it is ignored where nothing is reduced. Elements of 16 bytes are not reduced.
template <typename Choice>
auto with_element_type(char kind, int64_t element_size, Reduction reduction, const Choice& choice) {
    const bool reduces = reduction != Reduction::none, floating = reduces && kind == 'f', is_signed = reduces && kind == 'i';
    switch (element_size) {
        case 1: return is_signed ? with_reduction<int8_t>(reduction, choice) : with_reduction<uint8_t>(reduction, choice);
        case 2: return is_signed ? with_reduction<int16_t>(reduction, choice) : with_reduction<uint16_t>(reduction, choice);
        case 4:
            return floating    ? with_reduction<float>(reduction, choice)
                   : is_signed ? with_reduction<int32_t>(reduction, choice)
                               : with_reduction<uint32_t>(reduction, choice);
        case 8:
            return floating    ? with_reduction<double>(reduction, choice)
                   : is_signed ? with_reduction<int64_t>(reduction, choice)
                               : with_reduction<uint64_t>(reduction, choice);
        default: return choice(Bytes16{}, Replace{});
    }
}

}  // namespace ov_gather
