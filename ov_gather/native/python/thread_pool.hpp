// The thread pool that runs the kernel for Python.
#pragma once

namespace ov_gather {

// Thrown if a Python signal handler has raised; the error is set in the thread that called the kernel.
struct Interrupted {};

// Set the number of threads of loops, the calling one included; at least 1. The default is the number of cores.
void set_num_threads(int count);

}  // namespace ov_gather
