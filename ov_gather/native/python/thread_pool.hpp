// The thread pool that runs the kernel for Python.
#pragma once

#include "ov_gather_kernel.h"

namespace ov_gather {

// If a Python signal handler raises, the kernel's result is ov_gather_interrupted, and the error is set in the thread that
// called it.
extern const ov_gather_threads pool_threads;

// Set the number of threads of loops, the calling one included; at least 1. The default is the number of cores.
void set_num_threads(int count);

}  // namespace ov_gather
