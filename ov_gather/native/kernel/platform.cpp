#include "platform.hpp"

#include <algorithm>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <unistd.h>
#endif

namespace ov_gather {

bool has_avx2() {
#if OV_GATHER_HAS_AVX
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
#else
    return false;
#endif
}

bool has_avx512() {
#if OV_GATHER_HAS_AVX
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("bmi2");
#else
    return false;
#endif
}

bool is_intel() {
#if OV_GATHER_HAS_AVX
    return __builtin_cpu_is("intel");
#else
    return false;
#endif
}

bool is_zen_4() {
#if OV_GATHER_HAS_AVX
    return __builtin_cpu_is("amdfam19h") && has_avx512();  // Zen 3 is of the same family
#else
    return false;
#endif
}

int64_t second_level_cache_size() {
#ifdef _SC_LEVEL2_CACHE_SIZE
    return std::max<int64_t>(sysconf(_SC_LEVEL2_CACHE_SIZE), 0);
#else
    return 0;
#endif
}

int64_t last_level_cache_size() {
#ifdef _SC_LEVEL3_CACHE_SIZE
    return std::max<int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), 0);
#else
    return 0;
#endif
}

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
