// Loops over the positions of indices, of gathers (Loop) and scatters (ScatterLoop).
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace ov_gather {

// The loops that a caller has given.
template <typename AnyLoop>
struct GivenLoops {
    const AnyLoop* first;
    int64_t count;
    const AnyLoop* begin() const { return first; }
    const AnyLoop* end() const { return first + count; }
};

template <typename Arguments>
auto loops_of(const Arguments& given) {
    return GivenLoops<std::remove_const_t<std::remove_pointer_t<decltype(given.loops)>>>{given.loops, given.loop_count};
}

template <typename Loops>
int64_t count_positions(const Loops& loops) {
    int64_t count = 1;
    for (const auto& loop : loops) count *= loop.size;
    return count;
}

// Return true if an address is a multiple of the size of an element, or of 8 if that is larger.
inline bool is_aligned(const char* address, int64_t size) {
    return reinterpret_cast<uintptr_t>(address) % std::min<int64_t>(size, 8) == 0;
}

// Drop loops of size 1 and merge adjacent loops whose three strides match. The order of positions stays the same. Fewer than
// `least` loops are preceded by loops of size 1.
template <typename AnyLoop>
std::vector<AnyLoop> merged(const GivenLoops<AnyLoop>& loops, size_t least) {
    std::vector<AnyLoop> result;
    result.reserve(std::max<size_t>(loops.count, least));
    for (const AnyLoop& inner : loops) {
        const auto& [size, index, from, to] = inner;
        if (size == 1) continue;
        if (!result.empty()) {
            const auto [outer_size, outer_index, outer_from, outer_to] = result.back();
            if (outer_index == index * size && outer_from == from * size && outer_to == to * size) {
                result.back() = {outer_size * size, index, from, to};
                continue;
            }
        }
        result.push_back(inner);
    }
    while (result.size() < least) result.insert(result.begin(), {1, 0, 0, 0});
    return result;
}

}  // namespace ov_gather
