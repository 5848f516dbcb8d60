// The cores that threads run on, and what a fork leaves of them.
#pragma once

namespace ov_gather {

// Return the number of cores that this process may use, at least 1.
int available_cores();

// Return the core that the calling thread runs on; -1 if unknown.
int current_core();

// Move the calling thread to another core, if it may use one.
void leave_core(int core);

// Register a function to call in each process forked from this one, before anything else.
void in_forked_processes(void (*function)());

}  // namespace ov_gather
