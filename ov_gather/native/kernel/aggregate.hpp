// Aggregation, as in graph networks: rows of data are gathered and reduced to rows of the output, without a copy of each.
#pragma once

#include "ov_gather_kernel.h"
#include "threads.hpp"

namespace ov_gather {

using Aggregation = ov_gather_aggregate_arguments;

// Return false if an index is out of bounds; the output is then incomplete.
bool aggregate(const Threads& threads, const Aggregation& given, const char* data, const char* sources, const char* targets,
               const char* weights, char* output);

}  // namespace ov_gather
