// Patterns of `ov-gather bench`, smaller, with float data and int64 indices: PATTERN ours|plain|none. Each pattern is computed
// by the kernel, by a plain loop with the same checks, or not at all. Prints the number of elements that are moved.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gather.hpp"
#include "scatter.hpp"
#include "slices.hpp"
#include "threads.hpp"
#include "tuples.hpp"

namespace ov_gather {
void spread(int64_t count, int64_t, const std::function<void(const Range&)>& work) { work(Range(0, count)); }
void check_interrupt() {}
int64_t thread_count() { return 1; }
int64_t elements_per_thread() { return int64_t{1} << 40; }
}  // namespace ov_gather

namespace {

using Sizes = std::vector<int64_t>;

struct Arrays {
    std::vector<float> data, updates, output;
    std::vector<int64_t> indices;
    const char* from() const { return reinterpret_cast<const char*>(data.data()); }
    const char* at() const { return reinterpret_cast<const char*>(indices.data()); }
    const char* written() const { return reinterpret_cast<const char*>(updates.data()); }
    char* to() { return reinterpret_cast<char*>(output.data()); }
};

// Arrays of these sizes, with indices in [0, below).
Arrays arrays(int64_t data, int64_t updates, int64_t output, int64_t indices, int64_t below) {
    Arrays made{std::vector<float>(data), std::vector<float>(updates, -1), std::vector<float>(output), Sizes(indices)};
    for (int64_t i = 0; i < data; ++i) made.data[i] = static_cast<float>(i % 251);
    uint64_t state = 1;
    for (int64_t& index : made.indices) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        index = static_cast<int64_t>((state >> 33) % below);
    }
    return made;
}

struct Pointers {
    const float *data, *updates;
    float* output;
    const int64_t* indices;
};

Pointers pointers(Arrays& a) { return {a.data.data(), a.updates.data(), a.output.data(), a.indices.data()}; }

bool wrapped(int64_t& index, int64_t size) {
    if (index < 0) index += size;
    return index >= 0 && index < size;
}

using Work = std::function<bool(Arrays&)>;

struct Pattern {
    Arrays arrays;
    int64_t elements;
    Work ours, plain;
};

ov_gather::Gather elements_of(int64_t rows, int64_t columns, int axis) {
    const int64_t step = columns * 4;
    return {{{rows, columns * 8, axis == 0 ? 0 : step, step}, {columns, 8, axis == 1 ? 0 : 4, 4}},
            axis == 0 ? rows : columns,
            axis == 0 ? step : 4,
            4,
            ov_gather::IndexType::int64};
}

Pattern matrix(int64_t rows, int64_t columns, int axis) {
    const int64_t size = rows * columns, length = axis == 0 ? rows : columns;
    return {arrays(size, 0, size, size, length), size,
            [=](Arrays& a) {
                return ov_gather::gather_elements(elements_of(rows, columns, axis), a.from(), a.at(), a.to()) ==
                       ov_gather::all_in_bounds;
            },
            [=](Arrays& a) {
                const auto [data, updates, output, indices] = pointers(a);
                for (int64_t row = 0; row < rows; ++row)
                    for (int64_t i = 0; i < columns; ++i) {
                        int64_t index = indices[row * columns + i];
                        if (!wrapped(index, length)) return false;
                        output[row * columns + i] = data[axis == 0 ? index * columns + i : row * columns + index];
                    }
                return true;
            }};
}

Pattern embedding(int64_t rows, int64_t columns, int64_t count) {
    const Sizes step{columns * 4, 4};
    return {arrays(rows * columns, 0, count * columns, count, rows), count * columns,
            [=](Arrays& a) {
                const ov_gather::Gather gather{ov_gather::slice_loops(Sizes{count, columns}, 2, 1, 0, 0, step, Sizes{8}, step),
                                               rows, columns * 4, 4, ov_gather::IndexType::int64};
                return ov_gather::gather_elements(gather, a.from(), a.at(), a.to()) == ov_gather::all_in_bounds;
            },
            [=](Arrays& a) {
                for (int64_t i = 0; i < count; ++i) {
                    int64_t index = a.indices[i];
                    if (!wrapped(index, rows)) return false;
                    std::memcpy(&a.output[i * columns], &a.data[index * columns], columns * 4);
                }
                return true;
            }};
}

Pattern pixels(int64_t side, int64_t channels, int64_t count) {
    return {arrays(side * side * channels, 0, count * channels, count * 2, side), count * channels,
            [=](Arrays& a) {
                const ov_gather::GatherTuples gather{1, count, {side, side}, channels, 4, ov_gather::IndexType::int64};
                return ov_gather::gather_tuples(gather, a.from(), a.at(), a.to()) == ov_gather::all_in_bounds;
            },
            [=](Arrays& a) {
                for (int64_t i = 0; i < count; ++i) {
                    int64_t y = a.indices[2 * i], x = a.indices[2 * i + 1];
                    if (!wrapped(y, side) || !wrapped(x, side)) return false;
                    std::memcpy(&a.output[i * channels], &a.data[(y * side + x) * channels], channels * 4);
                }
                return true;
            }};
}

Pattern scatter(int64_t rows, int64_t columns, int64_t count, int axis) {
    const int64_t lines = axis == 0 ? count : rows, width = axis == 0 ? columns : count, length = axis == 0 ? rows : columns;
    const ov_gather::ScatterLoop outer{lines, width * 8, width * 4, columns * 4}, inner{width, 8, 4, 4};
    return {arrays(rows * columns, lines * width, rows * columns, lines * width, length), lines * width,
            [=](Arrays& a) {
                const ov_gather::Scatter made{{axis == 0 ? inner : outer},
                                              axis == 0 ? outer : inner,
                                              length,
                                              ov_gather::IndexType::int64,
                                              ov_gather::Reduction::none,
                                              rows * columns,
                                              'f',
                                              4};
                return ov_gather::scatter_elements(made, a.from(), a.at(), a.written(), a.to());
            },
            [=](Arrays& a) {
                const auto [data, updates, output, indices] = pointers(a);
                std::memcpy(output, data, rows * columns * 4);
                for (int64_t row = 0; row < lines; ++row)
                    for (int64_t i = 0; i < width; ++i) {
                        int64_t index = indices[row * width + i];
                        if (!wrapped(index, length)) return false;
                        output[axis == 0 ? index * columns + i : row * columns + index] = updates[row * width + i];
                    }
                return true;
            }};
}

const std::map<std::string, std::function<Pattern()>> patterns{
    {"rows", [] { return matrix(256, 1024, 1); }},
    {"columns", [] { return matrix(256, 1024, 0); }},
    {"vector", [] { return matrix(1, 1 << 18, 1); }},
    {"embedding", [] { return embedding(2000, 768, 256); }},
    {"gather_nd_pixels", [] { return pixels(128, 16, 10000); }},
    {"scatter", [] { return scatter(512, 1024, 256, 0); }},
    {"scatter_last", [] { return scatter(256, 1024, 1024, 1); }},
};

}  // namespace

int main(int count, char** words) {
    if (count != 3 || !patterns.count(words[1])) return 2;
    Pattern pattern = patterns.at(words[1])();
    const std::string who = words[2];
    if (who == "ours" && !pattern.ours(pattern.arrays)) return 1;
    if (who == "plain" && !pattern.plain(pattern.arrays)) return 1;
    double sum = 0;
    for (const float value : pattern.arrays.output) sum += value;  // the same for ours and plain
    std::printf("%lld %.0f\n", static_cast<long long>(pattern.elements), sum);
}
