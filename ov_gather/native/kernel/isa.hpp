// Which instruction set the lines use: the best that the machine has, or the one that OV_GATHER_ISA names.
#pragma once

#include <string>
#include <vector>

#include "lines.hpp"

namespace ov_gather {

const PlaneTable& best_planes();
std::string isa_name();
std::vector<std::string> available_isas();

}  // namespace ov_gather
