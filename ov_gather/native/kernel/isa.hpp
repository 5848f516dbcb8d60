// The instruction set of the inner loops: the best available, or the one named by OV_GATHER_ISA.
#pragma once

#include "lines.hpp"

namespace ov_gather {

const LineFunctions& line_functions();

// Return true if gather instructions are used for data in the near caches, too.
bool has_fast_gathers();

// Return the functions for an element size, a power of two up to 16 bytes; for indices of 4 and of 8 bytes.
const PlaneFunction* planes_of(int64_t element_size);
const char* isa_name();

// Return the names of all that this machine has, best first, separated by spaces.
const char* available_isas();

}  // namespace ov_gather
