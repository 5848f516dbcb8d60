#include "platform.hpp"

#include <algorithm>

#if defined(__unix__) || defined(__APPLE__)
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

}  // namespace ov_gather
