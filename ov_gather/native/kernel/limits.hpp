// The first number of an array that lies outside of limits.
#pragma once

#include <vector>

#include "ov_gather_kernel.h"

namespace ov_gather {

using LimitsLoop = ov_gather_limits_loop;

int64_t first_outside(const char* numbers, char kind, int64_t element_size, std::vector<LimitsLoop> loops, const void* limits);

}  // namespace ov_gather
