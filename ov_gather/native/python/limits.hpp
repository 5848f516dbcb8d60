// Python classes of the limits.
#pragma once

#include <nanobind/nanobind.h>

void add_limits(nanobind::module_& module);
