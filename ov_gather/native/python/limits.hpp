// The limits as classes of the Python module.
#pragma once

#include <nanobind/nanobind.h>

void add_limits(nanobind::module_& module);
