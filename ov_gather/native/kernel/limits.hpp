// The first number of an array that lies outside of limits.
#pragma once

#include <cstdint>
#include <vector>

namespace ov_gather {

// A loop over positions of the array; the stride is in bytes.
struct LimitsLoop {
    int64_t size;
    int64_t stride;
};

// Return the position, in the order of the loops, of the first number outside of the two numbers `limits`; -1 if none is. NaN
// is outside. `kind` is 'i', 'u' or 'f', as in NumPy; floats have 4 or 8 bytes. One thread: 100,000 numbers take microseconds.
int64_t first_outside(const char* numbers, char kind, int64_t element_size, std::vector<LimitsLoop> loops, const void* limits);

}  // namespace ov_gather
