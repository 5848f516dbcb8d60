#include "cores.hpp"

#include <algorithm>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace ov_gather {

int available_cores() {
#if defined(__linux__)
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof(cores), &cores) == 0) return std::max(CPU_COUNT(&cores), 1);
#endif
    return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

int current_core() {
#if defined(__linux__)
    return sched_getcpu();
#else
    return -1;
#endif
}

void leave_core([[maybe_unused]] int core) {
#if defined(__linux__)
    cpu_set_t cores, others;
    if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return;
    others = cores;
    CPU_CLR(core, &others);
    if (CPU_COUNT(&others) != 0 && sched_setaffinity(0, sizeof(others), &others) == 0)
        sched_setaffinity(0, sizeof(cores), &cores);
#endif
}

void in_forked_processes([[maybe_unused]] void (*function)()) {
#if defined(__unix__) || defined(__APPLE__)
    pthread_atfork(nullptr, nullptr, function);
#endif
}

}  // namespace ov_gather
