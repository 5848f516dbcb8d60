// GatherND's indices are tuples of coordinates. Each tuple becomes one index into the dimensions taken as one.
#pragma once

#include <cstdint>
#include <vector>

#include "gather.hpp"

namespace ov_gather {

// `indices` holds `count` tuples, one after the other, with a coordinate for each of `dims`; negative ones count from the end.
// Writes one index a tuple to `flat` and returns all_in_bounds; or returns the first tuple that is out of bounds.
int64_t flatten_tuples(const char* indices, IndexType type, int64_t count, const std::vector<int64_t>& dims, int64_t* flat);

}  // namespace ov_gather
