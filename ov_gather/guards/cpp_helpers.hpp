// The elements of an input, contiguous and in row-major order, and its shape. A boolean is a byte; f16 and bf16 are their bits.
template <typename T>
struct Input {
    const T* data = nullptr;
    std::vector<std::int64_t> shape;
};

struct Sizes {
    std::int64_t low, high;
};
constexpr std::int64_t none_below = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t none_above = std::numeric_limits<std::int64_t>::max();
constexpr double infinity = std::numeric_limits<double>::infinity();

inline void refuse(const std::string& text) { throw std::invalid_argument(text); }

// Write a float in the fewest digits that mean it and no other.
inline std::string text_of(double number) {
    char digits[32];
    for (int count = 1; count <= 17; ++count) {
        std::snprintf(digits, sizeof digits, "%.*g", count, number);
        if (std::strtod(digits, nullptr) == number) break;
    }
    return digits;
}

inline std::string text_of(float number) {
    char digits[32];
    for (int count = 1; count <= 9; ++count) {
        std::snprintf(digits, sizeof digits, "%.*g", count, static_cast<double>(number));
        if (std::strtof(digits, nullptr) == number) break;
    }
    return digits;
}

template <typename T>
std::string text_of(T number) {
    return std::to_string(number);
}

inline std::string valid(std::int64_t low, std::int64_t high) {
    return (low == none_below ? "" : std::to_string(low)) + ".." + (high == none_above ? "" : std::to_string(high));
}

inline std::string valid(double low, double high) {
    return (low == -infinity ? "" : text_of(low)) + ".." + (high == infinity ? "" : text_of(high));
}

// Multiply sizes. Refuse a request if a sum of a dozen such products might not fit.
inline std::int64_t times(std::int64_t one, std::int64_t other) {
    if (other != 0 && one > none_above / 16 / other) refuse("the sizes are too large");
    return one * other;
}

// Count elements, as a double: the product of the sizes before a size of 0 may not fit an integer.
inline double count_of(const std::vector<std::int64_t>& shape) {
    double count = 1;
    for (const std::int64_t size : shape) {
        if (size == 0) return 0;
        count *= static_cast<double>(size);
    }
    return count;
}

inline void check_shape(const char* name, const void* data, const std::vector<std::int64_t>& shape,
                        const std::vector<Sizes>* sizes) {
    bool fits = sizes == nullptr || shape.size() == sizes->size();
    const double count = count_of(shape);
    for (std::size_t i = 0; i < shape.size(); ++i) {
        fits = fits && shape[i] >= 0 && (sizes == nullptr || ((*sizes)[i].low <= shape[i] && shape[i] <= (*sizes)[i].high));
    }
    if (!fits) refuse(std::string("input ") + name + " has a shape that the model does not take");
    if (count > 2147483647) refuse(std::string("input ") + name + " has more than 2147483647 elements");
    if (count > 0 && data == nullptr) refuse(std::string("input ") + name + " has no data");
}

inline void check_equal(const char* one, std::int64_t size, const char* other, std::int64_t other_size) {
    if (size != other_size) refuse(std::string(one) + " and " + other + " differ, but the model has one size for both");
}

inline void check_size(const char* text, std::int64_t size, std::int64_t low, std::int64_t high, const char* needs) {
    if (size < low || size > high)
        refuse(std::string(text) + " = " + std::to_string(size) + " is out of bounds (valid " + valid(low, high) +
               "): " + needs);
}

template <typename T>
bool is_outside(T value, std::int64_t low, std::int64_t high) {
    static_assert(std::numeric_limits<T>::is_integer, "floats have bounds that are floats");
    if (std::numeric_limits<T>::is_signed || sizeof(T) < 8 || static_cast<std::int64_t>(value) >= 0)
        return static_cast<std::int64_t>(value) < low || static_cast<std::int64_t>(value) > high;
    return high != none_above;  // an unsigned number beyond all signed ones
}

// NaN is outside of any bounds.
template <typename T>
bool is_outside(T value, double low, double high) {
    const double number = static_cast<double>(value);
    return !(number >= low && number <= high);
}

template <typename T>
T same(T value) {
    return value;
}

inline float bf16(std::uint16_t bits) {
    const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return value;
}

inline double f16(std::uint16_t bits) {
    const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
    const double sign = (bits >> 15) != 0 ? -1.0 : 1.0;
    if (exponent == 31) return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * infinity;
    return exponent == 0 ? sign * std::ldexp(fraction, -24) : sign * std::ldexp(fraction + 1024, exponent - 25);
}

// The positions along an axis of a slice of Python: those from start on before stop, which count from the end if negative.
struct Span {
    std::size_t axis;
    std::int64_t start, stop, step;
};

inline bool is_within(const Span& span, std::int64_t place, std::int64_t size) {
    const std::int64_t start = std::max<std::int64_t>(span.start < 0 ? span.start + size : span.start, 0);
    const std::int64_t stop = span.stop < 0 ? span.stop + size : span.stop;
    return place >= start && place < stop && (place - start) % span.step == 0;
}

// Whether the i-th element, in row-major order, is in the part that the spans select.
inline bool is_in_part(std::int64_t i, const std::vector<std::int64_t>& shape, const std::vector<Span>& spans) {
    std::size_t left = spans.size();  // they are in the order of the axes
    for (std::size_t axis = shape.size(); axis-- > 0 && left > 0; i /= shape[axis])
        if (spans[left - 1].axis == axis && !is_within(spans[--left], i % shape[axis], shape[axis])) return false;
    return true;
}

// Check all elements, or those of a part; `read` converts an element to a number.
template <typename Bound, typename T, typename Read>
void check_elements(const char* name, const Input<T>& input, Read read, Bound low, Bound high, const char* needs,
                    const std::vector<Span>& spans) {
    const std::int64_t count = static_cast<std::int64_t>(count_of(input.shape));
    bool outside = false;
    for (std::int64_t i = 0; i < count; ++i) outside |= is_outside(read(input.data[i]), low, high);
    if (!outside) return;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto value = read(input.data[i]);
        if (!is_outside(value, low, high) || !is_in_part(i, input.shape, spans)) continue;
        std::string place;
        std::int64_t rest = i;
        for (std::size_t axis = input.shape.size(); axis-- > 0; rest /= input.shape[axis])
            place = std::to_string(rest % input.shape[axis]) + (place.empty() ? "" : ", ") + place;
        if (!place.empty()) place = "[" + place + "]";
        refuse(name + place + " = " + text_of(value) + " is out of bounds (valid " + valid(low, high) + "): " + needs);
    }
    if (spans.empty()) refuse(std::string(name) + " was changed while it was checked");
}
