// Which instruction set the lines use: the best that the machine has, or the one that OV_GATHER_ISA names.
#pragma once

#include <string>
#include <vector>

#include "lines.hpp"

namespace ov_gather {

const LineFunctions& line_functions();

// Gives the functions for elements of so many bytes, a power of two up to 16; by index type.
const PlaneFunction* planes_of(int64_t element_size);
std::string isa_name();
std::vector<std::string> available_isas();

}  // namespace ov_gather
