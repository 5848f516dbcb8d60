// The kernel, through its C interface, against naive loops: random arrays of every layout, and sizes around those at which the
// kernel changes its ways. Memory is allocated exactly, so that AddressSanitizer sees each access beyond.
//
//     kernel_test [SEED]
//     kernel_test --isas: print the instruction sets of this machine, which OV_GATHER_ISA may name
#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "ov_gather_kernel.h"

namespace {

using Bytes = std::vector<char>;
using Sizes = std::vector<int64_t>;

// The case at hand: what a failure names.
struct {
    uint64_t seed = 46;
    std::string function, about;
    int64_t number = 0;
} current;

void describe_case() {
    std::printf("kernel_test: %s: %s, seed %llu, case %lld (%s)\n", ov_gather_isa(), current.function.c_str(),
                static_cast<unsigned long long>(current.seed), static_cast<long long>(current.number), current.about.c_str());
    std::fflush(stdout);
}

[[noreturn]] void fail(const std::string& why) {
    describe_case();
    std::printf("%s\n", why.c_str());
    std::exit(1);
}

void require(bool condition, const char* otherwise) {
    if (!condition) fail(otherwise);
}

void require_result(int64_t result, int64_t expected) {
    if (result != expected) fail("the result is " + std::to_string(result) + " instead of " + std::to_string(expected));
}

std::string text(const Sizes& sizes) {
    std::string joined;
    for (int64_t size : sizes) joined += (joined.empty() ? "" : "x") + std::to_string(size);
    return "[" + joined + "]";
}

class Random {  // splitmix64
public:
    explicit Random(uint64_t seed) : m_state(seed) {}

    uint64_t next() {
        uint64_t bits = m_state += 0x9e3779b97f4a7c15;
        bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
        bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
        return bits ^ (bits >> 31);
    }
    int64_t below(int64_t count) { return next() % static_cast<uint64_t>(count); }
    bool one_in(int64_t count) { return below(count) == 0; }
    int64_t of(const Sizes& choices) { return choices[below(choices.size())]; }
    Bytes bytes(int64_t count) {
        Bytes result(count);
        int64_t at = 0;
        for (uint64_t word; at + 8 <= count; at += 8) word = next(), std::memcpy(&result[at], &word, 8);
        for (; at < count; ++at) result[at] = static_cast<char>(next());
        return result;
    }

private:
    uint64_t m_state;
};

// Threads and memory of the kernel, as a case wishes: `asked` questions whether the user has interrupted are answered with yes
// from the question `interrupt` on, the allocation `failing` fails, and a loop that is spread reports `no memory` if `fails`.
struct {
    int64_t threads = 1;
    std::atomic<int64_t> asked{0}, allocated{0};
    int64_t interrupt = -1, failing = -1;
    bool fails = false;
} world;

int64_t spread(int64_t count, int64_t grain, ov_gather_work work, void* context) {
    if (world.fails) return work(context, 0, std::min(count, grain)), ov_gather_no_memory;
    if (world.threads == 1) return work(context, 0, count);
    const int64_t part = std::max(grain, count / (2 * world.threads) + 1);
    std::atomic<int64_t> next{0}, result{ov_gather_done};
    const auto share = [&] {
        for (int64_t begin; result == ov_gather_done && (begin = next.fetch_add(part)) < count;) {
            const int64_t stopped = work(context, begin, std::min(begin + part, count));
            if (stopped != ov_gather_done) result = stopped;
        }
    };
    std::vector<std::thread> others;
    for (int64_t i = 1; i < world.threads; ++i) others.emplace_back(share);
    share();
    for (std::thread& thread : others) thread.join();
    return result;
}

int is_interrupted() { return world.asked++ >= world.interrupt && world.interrupt >= 0; }
int64_t count_threads() { return world.threads; }

ov_gather_threads draw_threads(Random& random) {
    world.threads = random.one_in(4) ? 3 : 1;
    return {spread, is_interrupted, count_threads, random.of({1, 100, 1 << 14})};
}

// Interrupt a call, let an allocation fail, and let a thread fail: each must be its result. Otherwise it is `expected`.
void stop(Random& random, int64_t expected, const std::function<int64_t()>& call) {
    world.threads = 1;
    require_result(call(), expected);  // buffers that a thread keeps are allocated now
    world.asked = world.allocated = 0;
    require_result(call(), expected);
    const int64_t asked = world.asked, allocated = world.allocated;
    if (asked > 0) {
        world.asked = 0, world.interrupt = random.below(asked);
        require_result(call(), ov_gather_interrupted);
        world.interrupt = -1;
    }
    if (allocated > 0) {
        world.allocated = 0, world.failing = random.below(allocated);
        require_result(call(), ov_gather_no_memory);
        world.failing = -1;
    }
    world.fails = true;
    const int64_t result = call();  // small loops are not spread
    if (result != ov_gather_no_memory) require_result(result, expected);
    world.fails = false;
}

// Call `visit` for all positions, row-major.
template <typename Visit>
void each(const Sizes& sizes, const Visit& visit) {
    if (std::count(sizes.begin(), sizes.end(), 0) != 0) return;
    Sizes position(sizes.size());
    for (size_t level = 1; level != 0;) {
        visit(const_cast<const Sizes&>(position));
        for (level = sizes.size(); level != 0 && ++position[level - 1] == sizes[level - 1]; --level) position[level - 1] = 0;
    }
}

int64_t product(const Sizes& sizes) { return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>()); }

struct Array {
    Sizes strides;  // bytes
    int64_t origin = 0;
    Bytes memory;

    char* start() { return memory.data() + origin; }
    char* at(const Sizes& position) {
        return start() + std::inner_product(position.begin(), position.end(), strides.begin(), int64_t{0});
    }
};

// Lay out an array of random bytes: contiguous if `plain`; otherwise in any order of dimensions, with gaps, backwards, and with
// one element for all positions along the dimensions of `broadcast`, a mask. Memory may begin before it and end behind it. If
// `odd`, it may begin at any address.
Array draw_array(Random& random, const Sizes& sizes, int64_t item, bool plain, uint32_t broadcast = 0, bool odd = false) {
    const int64_t before = random.below(4) * (odd ? 1 : std::min<int64_t>(item, 8)),
                  behind = random.below(2) * random.below(100);
    Array array{Sizes(sizes.size()), before, {}};
    std::vector<size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    if (!plain && random.one_in(2)) std::swap(order[random.below(order.size())], order.back());
    if (!plain && random.one_in(4)) std::swap(order[random.below(order.size())], order.front());
    int64_t step = item * (plain || !random.one_in(6) ? 1 : 2), span = item;
    for (size_t k = order.size(); k-- > 0;) {
        const size_t dim = order[k];
        if (broadcast >> dim & 1) continue;
        const int64_t last = std::max<int64_t>(sizes[dim] - 1, 0) * step;
        const bool backwards = !plain && random.one_in(8);
        array.strides[dim] = backwards ? -step : step;
        array.origin += backwards ? last : 0;
        span += last;
        step *= std::max<int64_t>(sizes[dim], 1);
        if (!plain && random.one_in(10)) step += item;
    }
    array.memory = random.bytes(product(sizes) == 0 ? before : before + span + behind);
    return array;
}

// Shapes of data and indices, or of output and updates.
struct Shape {
    Sizes data, indices;
    size_t axis;
    int64_t item;
    uint32_t broadcast = 0;  // a mask of the dimensions along which indices are the same
    bool plain = true;
};

Shape draw_shape(Random& random) {
    const Sizes small = {1, 2, 3, 3, 5, 8}, tiny = {1, 1, 2, 3};
    const Sizes edges = {63, 64, 65, 511, 512, 513, 700, 2047, 2048, 2049};
    const int64_t rank = 1 + random.below(5), family = random.below(5);
    Shape shape{{}, {}, static_cast<size_t>(random.below(rank)), random.of({1, 2, 4, 8, 16})};
    for (int64_t dim = 0; dim < rank; ++dim) shape.indices.push_back(random.of(family == 0 ? small : tiny));
    if (family == 1) shape.indices[random.below(rank)] = random.of(edges);
    if (family >= 2) {  // short lines; slices
        shape.indices.back() = 1 + random.below(family == 2 ? 70 : 600 / shape.item);
        if (rank > 1) shape.indices[random.below(rank - 1)] = random.of({3, 40, 100});
    }
    if (random.one_in(40)) shape.indices[random.below(rank)] = 0;
    for (int64_t size : shape.indices) shape.data.push_back(size + random.below(2) * random.below(4));
    if (random.one_in(2)) shape.data[shape.axis] = random.one_in(9) ? 0 : random.of(random.one_in(2) ? small : edges);
    if (family == 3 || random.one_in(4)) shape.broadcast = random.one_in(3) ? random.below(1 << rank) : 1 << (rank - 1);
    shape.plain = random.one_in(2);
    return product(shape.indices) > 10'000 || product(shape.data) > 100'000 ? draw_shape(random) : shape;
}

int64_t read_index(const char* from, int64_t size) {
    int32_t narrow;
    int64_t wide;
    size == 4 ? std::memcpy(&narrow, from, 4) : std::memcpy(&wide, from, 8);
    return size == 4 ? narrow : wide;
}

// Write a random index of an axis; one that is mostly out of bounds if `bad`.
void write_index(Random& random, char* to, int64_t size, int64_t axis_size, bool bad) {
    const Sizes others = {axis_size, -axis_size - 1, INT32_MAX, INT32_MIN, INT64_MIN, int64_t{1} << 32, -(int64_t{1} << 32)};
    const int64_t index = bad || axis_size == 0 ? random.of(others) : random.below(2 * axis_size) - axis_size;
    const int32_t narrow = static_cast<int32_t>(index);
    size == 4 ? std::memcpy(to, &narrow, 4) : std::memcpy(to, &index, 8);
}

// Return an index counted from the start, or -1 if it is out of bounds.
int64_t checked(int64_t index, int64_t axis_size) {
    if (index < 0) index += axis_size;
    return index < 0 || index >= axis_size ? -1 : index;
}

// Draw indices; `bad` of them may be out of bounds. With `equal`, those along the last dimension are equal.
Array draw_indices(Random& random, const Shape& shape, int64_t size, int64_t bad, bool equal = false) {
    Array indices = draw_array(random, shape.indices, size, shape.plain, shape.broadcast);
    const int64_t axis_size = shape.data[shape.axis], count = product(shape.indices);
    Sizes first;
    each(shape.indices, [&](const Sizes& at) {
        write_index(random, indices.at(at), size, axis_size, false);
        first = at;
        first.back() = 0;
        if (equal) std::memmove(indices.at(at), indices.at(first), size);
    });
    for (; bad > 0 && count > 0; --bad) {
        Sizes at;
        for (int64_t extent : shape.indices) at.push_back(random.below(extent));
        write_index(random, indices.at(at), size, axis_size, true);
    }
    return indices;
}

void test_elements(Random& random, const Shape& shape) {
    const int64_t axis_size = shape.data[shape.axis], item = shape.item, size = random.of({4, 8});
    const bool zero = random.one_in(6);
    current.about = text(shape.data) + " " + text(shape.indices) + " axis " + std::to_string(shape.axis) + ", " +
                    std::to_string(item) + " bytes, indices of " + std::to_string(size) + (zero ? ", zeros" : "");
    const bool odd = random.one_in(8);
    Array data = draw_array(random, shape.data, item, shape.plain, axis_size > INT32_MAX ? 1 << shape.axis : 0, odd);
    Array indices = draw_indices(random, shape, size, random.one_in(4) ? 1 + random.below(3) : 0);
    Array output = draw_array(random, shape.indices, item, shape.plain && !random.one_in(8), 0, odd), expected = output;
    int64_t position = 0, first = ov_gather_done;
    Sizes from;
    each(shape.indices, [&](const Sizes& at) {
        from = at;
        from[shape.axis] = checked(read_index(indices.at(at), size), axis_size);
        if (from[shape.axis] >= 0)
            std::memcpy(expected.at(at), data.at(from), item);
        else
            std::memset(expected.at(at), 0, item);
        if (from[shape.axis] < 0 && first == ov_gather_done) first = position;
        ++position;
    });
    std::vector<ov_gather_loop> loops;
    for (size_t dim = 0; dim < shape.indices.size(); ++dim)
        if (shape.indices[dim] != 1 || random.one_in(2))
            loops.push_back(
                {shape.indices[dim], indices.strides[dim], dim == shape.axis ? 0 : data.strides[dim], output.strides[dim]});
    const ov_gather_threads threads = draw_threads(random);
    const ov_gather_elements_arguments given = {
        loops.data(), static_cast<int64_t>(loops.size()), axis_size, data.strides[shape.axis], item, size, zero};
    const auto call = [&] { return ov_gather_elements(&threads, &given, data.start(), indices.start(), output.start()); };
    require_result(ov_gather_first_out_of_bounds(&threads, &given, indices.start()), first);
    if (zero) first = ov_gather_done;
    require_result(call(), first);
    if (first != ov_gather_done)  // elements are partly written, nothing else is
        each(shape.indices, [&](const Sizes& at) { std::memcpy(output.at(at), expected.at(at), item); });
    require(output.memory == expected.memory, "the output differs");
    if (random.one_in(8) || (position > 100'000 && position < 500'000)) stop(random, first, call);
}

void test_tuples(Random& random, const Shape& shape) {  // data: indexed dimensions; indices: batches, tuples; axis: slice
    const int64_t size = random.of({4, 8}), item = shape.item, slice = shape.axis, depth = shape.data.size();
    const int64_t batches = shape.indices[0], tuples = shape.indices[1], places = product(shape.data);
    current.about = text(shape.data) + " " + text(shape.indices) + ", slices of " + std::to_string(slice) + " elements of " +
                    std::to_string(item) + " bytes, indices of " + std::to_string(size);
    const bool odd = random.one_in(8);
    Array data = draw_array(random, {batches, places, slice}, item, true, 0, odd);
    Array indices = draw_array(random, {batches * tuples, depth}, size, true);
    Array output = draw_array(random, {batches * tuples, slice}, item, true, 0, odd), expected = output;
    const int64_t wrong = random.one_in(4) ? random.below(batches * tuples + 1) : -1;
    std::vector<int64_t> flat(batches * tuples), expected_flat(batches * tuples);
    int64_t first = ov_gather_done;
    for (int64_t tuple = 0; tuple < batches * tuples; ++tuple) {
        int64_t place = 0;
        const int64_t bad = tuple == wrong || random.one_in(1 + tuples * 99) ? random.below(depth) : -1;
        for (int64_t k = 0; k < depth; ++k) {
            write_index(random, indices.at({tuple, k}), size, shape.data[k], k == bad);
            const int64_t index = checked(read_index(indices.at({tuple, k}), size), shape.data[k]);
            place = place < 0 || index < 0 ? -1 : place * shape.data[k] + index;
        }
        if (place < 0 && first == ov_gather_done) first = tuple;
        expected_flat[tuple] = place;
        if (place >= 0 && slice > 0) std::memcpy(expected.at({tuple, 0}), data.at({tuple / tuples, place, 0}), slice * item);
    }
    const ov_gather_threads threads = draw_threads(random);
    const ov_gather_tuples_arguments given = {batches, tuples, shape.data.data(), depth, slice, item, size};
    const auto call = [&] { return ov_gather_tuples(&threads, &given, data.start(), indices.start(), output.start()); };
    require_result(ov_gather_flatten_tuples(&threads, &given, indices.start(), flat.data()), first);
    require(first != ov_gather_done || flat == expected_flat, "the flat tuples differ");
    require_result(call(), first);
    if (first != ov_gather_done && slice > 0) std::memcpy(output.start(), expected.start(), batches * tuples * slice * item);
    require(output.memory == expected.memory, "the output differs");
    if (random.one_in(8)) stop(random, first, call);
}

// Call with a number of a type.
template <typename Call>
void with_type(char kind, int64_t size, const Call& call) {
    if (kind == 'f') return size == 4 ? call(float{}) : call(double{});
    if (kind == 'c') return size == 8 ? call(std::complex<float>{}) : call(std::complex<double>{});
    if (kind == 'i')
        return size == 1 ? call(int8_t{}) : size == 2 ? call(int16_t{}) : size == 4 ? call(int32_t{}) : call(int64_t{});
    return size == 1 ? call(uint8_t{}) : size == 2 ? call(uint16_t{}) : size == 4 ? call(uint32_t{}) : call(uint64_t{});
}

template <typename T>
T drawn(Random& random, T) {
    return static_cast<T>(random.next());
}
float drawn(Random& random, float) { return random.one_in(60) ? NAN : static_cast<float>(random.below(99) - 49) / 7; }
double drawn(Random& random, double) { return random.one_in(60) ? NAN : static_cast<double>(random.below(99) - 49) / 7; }
template <typename T>
std::complex<T> drawn(Random& random, std::complex<T>) {
    const T real = drawn(random, T{});
    return {real, drawn(random, T{})};
}

template <typename T>
bool is_nan(T number) {
    return number != number;
}
template <typename T>
bool is_less(T a, T b) {
    return a < b;
}
template <typename T>
bool is_less(std::complex<T> a, std::complex<T> b) {
    return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
}
template <typename T>
T times(T a, T b) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    return a * b;
}
template <typename T>
std::complex<T> times(std::complex<T> a, std::complex<T> b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <typename T>
T plus(T a, T b) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    return a + b;
}

// The elements of a scatter, and one update of one of them.
struct Updates {
    ov_gather_reduction reduction;
    char kind;
    int64_t size;

    void update(char* to, const char* from) const {
        if (reduction == ov_gather_replace) return static_cast<void>(std::memcpy(to, from, size));
        with_type(kind, size, [&](auto old) {
            auto by = old;
            std::memcpy(&old, to, size), std::memcpy(&by, from, size);
            const bool takes =
                is_nan(by) || (!is_nan(old) && (reduction == ov_gather_min ? is_less(by, old) : is_less(old, by)));
            old = reduction == ov_gather_sum ? plus(old, by) : reduction == ov_gather_prod ? times(old, by) : takes ? by : old;
            std::memcpy(to, &old, size);
        });
    }
    void draw(Random& random, Array& array, const Sizes& sizes) const {
        if (reduction == ov_gather_replace) return;  // any bytes
        with_type(kind, size, [&](auto number) {
            each(sizes, [&](const Sizes& at) { std::memcpy(array.at(at), &(number = drawn(random, number)), size); });
        });
    }
    // Make all NaNs of a contiguous array the same: their bits may be any.
    void unify_nans(Array& array, int64_t count) const {
        if (reduction == ov_gather_replace || (kind != 'f' && kind != 'c')) return;
        with_type('f', kind == 'c' ? size / 2 : size, [&](auto number) {
            const auto nan = std::numeric_limits<decltype(number)>::quiet_NaN();
            for (char *at = array.start(), *end = at + count * size; at < end; at += sizeof number) {
                std::memcpy(&number, at, sizeof number);
                if (is_nan(number)) std::memcpy(at, &nan, sizeof number);
            }
        });
    }
};

Updates draw_updates(Random& random, int64_t size) {
    const char kind = size == 16  ? 'c'
                      : size < 4  ? "iu"[random.below(2)]
                      : size == 4 ? "iuf"[random.below(3)]
                                  : "iufc"[random.below(4)];
    return {static_cast<ov_gather_reduction>(random.below(5)), kind, size};
}

void test_scatter(Random& random, const Shape& shape) {
    const int64_t axis_size = shape.data[shape.axis], item = shape.item, size = random.of({4, 8}),
                  elements = product(shape.data);
    const Updates type = draw_updates(random, item);
    const bool in_place = random.one_in(3);
    current.about = text(shape.data) + " " + text(shape.indices) + " axis " + std::to_string(shape.axis) + ", " + type.kind +
                    std::to_string(item) + ", reduction " + std::to_string(type.reduction) + ", indices of " +
                    std::to_string(size) + (in_place ? ", in place" : "");
    Array data = draw_array(random, shape.data, item, true);
    Array indices = draw_indices(random, shape, size, random.one_in(5) ? 1 : 0, random.one_in(3));
    Array updates = draw_array(random, shape.indices, item, shape.plain || random.one_in(2));
    type.draw(random, data, shape.data);
    type.draw(random, updates, shape.indices);
    Array output = in_place ? data : draw_array(random, shape.data, item, true), expected = output;
    if (elements > 0) std::memcpy(expected.start(), data.start(), elements * item);
    int64_t result = ov_gather_done;
    Sizes to;
    each(shape.indices, [&](const Sizes& at) {
        to = at;
        to[shape.axis] = checked(read_index(indices.at(at), size), axis_size);
        if (to[shape.axis] < 0)
            result = 0;
        else
            type.update(expected.at(to), updates.at(at));
    });
    std::vector<ov_gather_scatter_loop> loops;
    ov_gather_scatter_loop axis{};
    for (size_t dim = 0; dim < shape.indices.size(); ++dim) {
        const ov_gather_scatter_loop loop = {shape.indices[dim], indices.strides[dim], updates.strides[dim],
                                             output.strides[dim]};
        if (dim == shape.axis)
            axis = loop;
        else if (loop.size != 1 || random.one_in(2))
            loops.push_back(loop);
    }
    const ov_gather_threads threads = draw_threads(random);
    const ov_gather_scatter_arguments given = {
        loops.data(), static_cast<int64_t>(loops.size()), axis, axis_size, elements, item, size, type.reduction, type.kind};
    const auto call = [&] {
        const char* const from = in_place ? output.start() : data.start();
        return ov_gather_scatter(&threads, &given, from, indices.start(), updates.start(), output.start());
    };
    require_result(call(), result);
    if (result != ov_gather_done && elements > 0) std::memcpy(output.start(), expected.start(), elements * item);
    type.unify_nans(output, elements);
    type.unify_nans(expected, elements);
    require(output.memory == expected.memory, "the output differs");
    if (random.one_in(8) || product(shape.indices) > 100'000) stop(random, result, call);
}

void test_rows(Random& random, const Shape& shape) {  // data: rows, row size; indices: updates, width
    const int64_t rows = shape.data[0], count = rows == 0 ? 0 : shape.indices[0], width = shape.indices[1], item = shape.item;
    const Updates type = draw_updates(random, item);
    const bool in_place = random.one_in(3);
    current.about = text(shape.data) + " " + text(shape.indices) + ", " + type.kind + std::to_string(item) + ", reduction " +
                    std::to_string(type.reduction) + (in_place ? ", in place" : "");
    Array data = draw_array(random, shape.data, item, true), updates = draw_array(random, {count, width}, item, true);
    type.draw(random, data, shape.data);
    type.draw(random, updates, {count, width});
    Array output = in_place ? data : draw_array(random, shape.data, item, true), expected = output;
    const int64_t elements = product(shape.data);
    if (elements > 0) std::memcpy(expected.start(), data.start(), elements * item);
    std::vector<int64_t> to(count);
    for (int64_t& row : to) row = random.below(random.one_in(2) ? rows : std::min<int64_t>(rows, 3));
    each({count, width}, [&](const Sizes& at) { type.update(expected.at({to[at[0]], at[1]}), updates.at(at)); });
    const ov_gather_threads threads = draw_threads(random);
    const ov_gather_rows_arguments given = {count, rows, shape.data[1], width, item, type.reduction, type.kind};
    const auto call = [&] {
        const char* const from = in_place ? output.start() : data.start();
        return ov_gather_scatter_rows(&threads, &given, to.data(), from, updates.start(), output.start());
    };
    require_result(call(), ov_gather_done);
    type.unify_nans(output, elements);
    type.unify_nans(expected, elements);
    require(output.memory == expected.memory, "the output differs");
    if (random.one_in(8) || count > 10'000) stop(random, ov_gather_done, call);
}

template <typename T>
void test_numbers(Random& random, const Shape& shape, char kind, T) {
    Array numbers = draw_array(random, shape.indices, sizeof(T), shape.plain, shape.broadcast);
    const int64_t most = random.of({3, 50, 120});
    each(shape.indices, [&](const Sizes& at) {
        const T number = static_cast<T>(random.below(most) - (std::is_unsigned_v<T> ? 0 : most / 2));
        std::memcpy(numbers.at(at), &number, sizeof(T));
    });
    T limits[] = {static_cast<T>(std::is_unsigned_v<T> ? 0 : -most / 2), static_cast<T>(most)};
    if (random.one_in(4)) limits[random.below(2)] = drawn(random, T{});
    if (random.one_in(4)) limits[0] = std::numeric_limits<T>::lowest(), limits[1] = std::numeric_limits<T>::max();
    if (product(shape.indices) > 0 && random.one_in(2)) {
        Sizes at;
        for (int64_t extent : shape.indices) at.push_back(random.below(extent));
        const bool exceeds = random.one_in(2) && limits[1] < std::numeric_limits<T>::max();
        const T number = exceeds ? static_cast<T>(limits[1] + T{1}) : drawn(random, T{});
        std::memcpy(numbers.at(at), &number, sizeof(T));
    }
    int64_t position = 0, first = ov_gather_done;
    each(shape.indices, [&](const Sizes& at) {
        T number;
        std::memcpy(&number, numbers.at(at), sizeof(T));
        const bool is_within = limits[0] <= number && number <= limits[1];
        if (!is_within && first == ov_gather_done) first = position;
        ++position;
    });
    std::vector<ov_gather_limits_loop> loops;
    for (size_t dim = 0; dim < shape.indices.size(); ++dim)
        if (shape.indices[dim] != 1 || random.one_in(2)) loops.push_back({shape.indices[dim], numbers.strides[dim]});
    require_result(ov_gather_first_outside(numbers.start(), kind, sizeof(T), loops.data(), loops.size(), limits), first);
}

void test_first_outside(Random& random, const Shape& shape) {
    const char kind = shape.item < 4 ? "iu"[random.below(2)] : "iuf"[random.below(3)];
    current.about = text(shape.indices) + ", " + kind + std::to_string(shape.item);
    with_type(kind, shape.item, [&](auto number) {
        if constexpr (std::is_arithmetic_v<decltype(number)>) test_numbers(random, shape, kind, number);
    });
}

// Test a function on the shapes given, and on those drawn. Each case has its own random numbers.
void run(const char* function, void (*test)(Random&, const Shape&), const std::vector<Shape>& given, int64_t count,
         Shape (*draw)(Random&)) {
    current.function = function;
    const int64_t all = static_cast<int64_t>(given.size()) + count;
    for (current.number = 0; current.number < all; ++current.number) {
        Random random(current.seed * 1'000'003 + current.number);
        random.next();
        test(random, current.number < count ? draw(random) : given[current.number - count]);
    }
    std::printf("%s: %lld cases\n", function, static_cast<long long>(all));
    std::fflush(stdout);
}

}  // namespace

// AddressSanitizer calls this before it reports an error.
extern "C" void __asan_on_error() { describe_case(); }

[[gnu::noinline]] void* operator new(std::size_t size) {
    if (world.allocated++ == world.failing) throw std::bad_alloc();
    if (void* const memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

int main(int count, char** arguments) {
    if (count > 1 && std::strcmp(arguments[1], "--isas") == 0) return std::puts(ov_gather_available_isas()) < 0;
    if (count > 1) current.seed = std::strtoull(arguments[1], nullptr, 10);
    const int64_t giant = int64_t{1} << 33;
    std::printf("kernel_test: %s, seed %llu\n", ov_gather_isa(), static_cast<unsigned long long>(current.seed));
    run("ov_gather_elements", test_elements,
        {
            {{700'000}, {50'000}, 0, 4},                 // data beyond the near caches
            {{200'000}, {1'400'000}, 0, 16},             // the same, and an output around the caches
            {{3'300'000}, {20'000}, 0, 16},              // data beyond all caches
            {{300, 1024}, {310, 1024}, 0, 8},            // columns that are packed
            {{300, 1021}, {310, 1021}, 0, 8},            // of an odd length
            {{2, 150, 2, 700}, {2, 160, 2, 700}, 1, 8},  // in batches
            {{3000, 1024}, {40, 1024}, 0, 1},            // columns that are split
            {{33'000, 64}, {16'500, 64}, 0, 1},          // columns too long to be packed
            {{8, 300, 100}, {8, 300, 100}, 1, 2},        // planes, the next of which is fetched
            {{40, 90'000}, {40, 5}, 1, 4},               // short lines of rows beyond the near caches
            {{5000, 150}, {900, 150}, 0, 4, 2},          // slices beyond the near caches
            {{4000, 16}, {100'000, 16}, 0, 16, 2},       // slices around the caches
            {{300, 700}, {300, 700}, 1, 4, 0, false},    // outputs of any layout
            {{3, giant}, {3, 3000}, 1, 4},
            {{giant}, {70}, 0, 8}  // an axis beyond 32 bits
        },
        1500, draw_shape);
    const auto draw_tuples = [](Random& random) {
        Shape shape{Sizes(1 + random.below(6)),
                    {random.below(4), random.of({0, 1, 7, 64, 300, 2047, 2049})},
                    0,
                    random.of({1, 2, 4, 8, 16})};
        for (int64_t& size : shape.data) size = random.one_in(50) ? 0 : 1 + random.below(5);
        shape.axis = random.one_in(2) ? random.below(3) : random.below(40);
        return shape;
    };
    run("ov_gather_tuples", test_tuples,
        {{{600, 700}, {1, 20'000}, 1, 8}, {{70, 60}, {2, 3000}, 100, 4}, {{3, 200'000}, {1, 9000}, 3, 2}}, 600, draw_tuples);
    run("ov_gather_scatter", test_scatter,
        {
            {{3, 5000}, {3, 600}, 1, 4},          // lines longer than what is fetched
            {{2, 40'000}, {2, 30'000}, 1, 8},     // lines whose stores wait
            {{2000, 200}, {1500, 200}, 0, 4},     // columns that are packed
            {{800, 300}, {900, 300}, 0, 8, 2},    // rows that are sorted
            {{70'000, 3}, {90'000, 3}, 0, 1, 2},  // many short rows
            {{30, 40, 600}, {20, 30, 600}, 1, 4, 4},
            {{1'200'000}, {1'200'000}, 0, 1}  // work that can be interrupted
        },
        1500, draw_shape);
    run("ov_gather_scatter_rows", test_rows,
        {{{800, 300}, {900, 300}, 0, 8},
         {{3000, 130}, {1000, 130}, 0, 4},
         {{9, 3}, {40'000, 2}, 0, 2},
         {{40, 2000}, {60, 1900}, 0, 8}},
        600, [](Random& random) {
            Shape shape{{random.below(30), random.of({1, 2, 8, 65, 200})},
                        {random.of({0, 1, 50, 700}), 0},
                        0,
                        random.of({1, 2, 4, 8, 16})};
            shape.indices[1] = random.one_in(2) ? shape.data[1] : random.below(shape.data[1] + 1);
            return shape;
        });
    run("ov_gather_first_outside", test_first_outside, {{{}, {12'289}, 0, 4}, {{}, {4096}, 0, 1}, {{}, {4097}, 0, 8}}, 800,
        [](Random& random) {
            Shape shape = draw_shape(random);
            shape.item = random.of({1, 2, 4, 8});
            return shape;
        });
}
