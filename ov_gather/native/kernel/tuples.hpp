// GatherND: indices are tuples of coordinates, which are flattened to one index into the indexed dimensions joined.
#pragma once

#include "ov_gather_kernel.h"
#include "threads.hpp"

namespace ov_gather {

using Tuples = ov_gather_tuples_arguments;

// Flatten contiguous tuples; negative coordinates count from the end. Write one index per tuple to `flat` and return
// ov_gather_done; or return the first tuple that is out of bounds.
int64_t flatten_tuples(const Threads& threads, const Tuples& tuples, const char* indices, int64_t* flat);

// Gather all slices; return ov_gather_done, or the first tuple out of bounds, counted over all batches.
int64_t gather_tuples(const Threads& threads, const Tuples& tuples, const char* data, const char* indices, char* output);

}  // namespace ov_gather
