// These threads work for the kernel when Python calls it.
#pragma once

namespace ov_gather {

// A signal handler of Python has raised an error, which is set in the thread that called the kernel.
struct Interrupted {};

// Lets loops run on so many threads from now on, the calling one included; at least 1. By default there are as many as cores.
void set_num_threads(int count);

}  // namespace ov_gather
