#include "limits.hpp"

#include <cstddef>

#include "isa.hpp"

namespace ov_gather {
namespace {

// Drop loops of size 1, and merge each loop with the next one if both together are one loop with the same stride.
std::vector<LimitsLoop> merged(const std::vector<LimitsLoop>& loops) {
    std::vector<LimitsLoop> result;
    for (const LimitsLoop& loop : loops) {
        if (loop.size == 1) continue;
        if (!result.empty() && result.back().stride == loop.size * loop.stride)
            result.back() = {result.back().size * loop.size, loop.stride};
        else
            result.push_back(loop);
    }
    return result;
}

OutsideFunction function_of(char kind, int64_t element_size) {
    int logarithm = 0;
    while (element_size >>= 1) ++logarithm;
    return line_functions().first_outside[kind == 'i' ? 0 : kind == 'u' ? 1 : 2][logarithm];
}

}  // namespace

int64_t first_outside(const char* numbers, char kind, int64_t element_size, std::vector<LimitsLoop> loops, const void* limits) {
    for (const LimitsLoop& loop : loops)
        if (loop.size == 0) return ov_gather_done;
    loops = merged(loops);
    const LimitsLoop line = loops.empty() ? LimitsLoop{1, element_size} : loops.back();
    if (!loops.empty()) loops.pop_back();
    const OutsideFunction function = function_of(kind, element_size);

    std::vector<int64_t> at(loops.size());  // the coordinates of a line
    for (int64_t position = 0;; position += line.size) {
        const int64_t found = function(numbers, line.size, line.stride, limits);
        if (found >= 0) return position + found;
        std::size_t axis = loops.size();
        while (axis > 0 && ++at[axis - 1] == loops[axis - 1].size) {
            numbers -= (loops[axis - 1].size - 1) * loops[axis - 1].stride;
            at[--axis] = 0;
        }
        if (axis == 0) return ov_gather_done;
        numbers += loops[axis - 1].stride;
    }
}

}  // namespace ov_gather
