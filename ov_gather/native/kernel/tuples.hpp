// GatherND's indices are tuples of coordinates. Each tuple becomes one index into the dimensions taken as one.
#pragma once

#include <cstdint>
#include <vector>

#include "gather.hpp"

namespace ov_gather {

// `indices` holds `count` tuples, one after the other, with a coordinate for each of `dims`; negative ones count from the end.
// Writes one index a tuple to `flat` and returns all_in_bounds; or returns the first tuple that is out of bounds.
int64_t flatten_tuples(const char* indices, IndexType type, int64_t count, const std::vector<int64_t>& dims, int64_t* flat);

// A gather of slices that tuples name, in each of several batches. All memory is contiguous.
struct GatherTuples {
    int64_t batches, tuples;    // tuples of each batch
    std::vector<int64_t> dims;  // that a tuple indexes, one behind the other
    int64_t slice;              // elements
    int64_t element_size;
    IndexType index_type;
};

// Returns all_in_bounds, or the first tuple that is out of bounds, of those of all batches.
int64_t gather_tuples(const GatherTuples& gather, const char* data, const char* indices, char* output);

}  // namespace ov_gather
