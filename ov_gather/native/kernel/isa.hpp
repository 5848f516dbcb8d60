// The instruction set of the inner loops: the best available, or the one named by OV_GATHER_ISA.
#pragma once

#include <string>
#include <vector>

#include "lines.hpp"

namespace ov_gather {

const LineFunctions& line_functions();

// Return the functions for an element size, a power of two up to 16 bytes; indexed by IndexType.
const PlaneFunction* planes_of(int64_t element_size);
std::string isa_name();
std::vector<std::string> available_isas();

}  // namespace ov_gather
