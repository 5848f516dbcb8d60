// GatherND: indices are tuples of coordinates, which are flattened to one index into the indexed dimensions joined.
#pragma once

#include <cstdint>
#include <vector>

#include "gather.hpp"

namespace ov_gather {

// Flatten `count` contiguous tuples with one coordinate per element of `dims`; negative ones count from the end. Write one
// index per tuple to `flat` and return all_in_bounds; or return the first tuple that is out of bounds.
int64_t flatten_tuples(const char* indices, IndexType type, int64_t count, const std::vector<int64_t>& dims, int64_t* flat);

// A gather of slices by tuples, in several batches. All memory is contiguous.
struct GatherTuples {
    int64_t batches, tuples;    // tuples per batch
    std::vector<int64_t> dims;  // sizes of the indexed dimensions, in order
    int64_t slice;              // elements per slice
    int64_t element_size;
    IndexType index_type;
};

// Describe the same gather by one flat index of this type per tuple: the indexed dimensions form one axis.
Gather with_flat_indices(const GatherTuples& gather, IndexType type);

// Gather all slices; return all_in_bounds, or the first tuple out of bounds, counted over all batches.
int64_t gather_tuples(const GatherTuples& gather, const char* data, const char* indices, char* output);

}  // namespace ov_gather
