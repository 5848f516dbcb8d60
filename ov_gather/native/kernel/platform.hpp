// What compilers and systems do each in their own way stands here. Functions are static for the reason at the head of
// lines.cpp.
#pragma once

#include <stdint.h>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#define OV_GATHER_EXPORT __declspec(dllexport)
#else
#define OV_GATHER_EXPORT __attribute__((visibility("default"), used))
#endif

// On x86-64, lines.cpp is compiled for AVX2 and AVX-512, too; not by Microsoft's compiler, nor by those that take its place.
#if defined(__x86_64__) && !defined(_MSC_VER)
#define OV_GATHER_HAS_AVX 1
#else
#define OV_GATHER_HAS_AVX 0
#endif

#if OV_GATHER_VECTOR_GATHER && defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 says so of its own header of AVX-512
#endif

namespace ov_gather {

// Lets the processor load the cache line at an address, which may be any.
static inline void fetch(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#elif defined(_M_X64)
    _mm_prefetch(static_cast<const char*>(address), _MM_HINT_T0);
#else
    (void)address;
#endif
}

// Loads the cache line into the second-level cache only.
static inline void fetch_far(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address, 0, 2);
#elif defined(_M_X64)
    _mm_prefetch(static_cast<const char*>(address), _MM_HINT_T1);
#else
    (void)address;
#endif
}

// Loads a cache line that will be written.
static inline void fetch_to_write(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address, 1);
#else
    fetch(address);
#endif
}

// Reads a number from memory once. Another thread may change the memory meanwhile, so what was checked must be what is used; an
// ordinary variable may be read from memory again.
template <typename Number>
static inline Number load_once(const Number* address) {
#if defined(__GNUC__)
    return __atomic_load_n(address, __ATOMIC_RELAXED);
#else
    return *static_cast<const volatile Number*>(address);
#endif
}

#if OV_GATHER_HAS_AVX
// Keeps a vector in a register, so that the compiler does not read its memory again, for the same reason.
template <typename Vector>
static inline Vector in_register(Vector value) {
    __asm__ volatile("" : "+v"(value));
    return value;
}
#endif

// Waits for a moment, in a loop that waits for another thread.
static inline void relax() {
#if OV_GATHER_HAS_AVX
    __builtin_ia32_pause();
#elif defined(_M_X64)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

// Whether this machine, and its system, have the instruction sets of instruction_sets.txt.
bool has_avx2();
bool has_avx512();

bool is_intel();

// Bytes of the second-level cache, which a core has to itself; 0 where the system does not say.
int64_t second_level_cache_size();

// The cores that this process may use; at least 1.
int available_cores();

// The core that the calling thread runs on; -1 where the system does not say.
int current_core();

// Lets the calling thread go on on another core, if it may use another one.
void leave_core(int core);

// Calls a function in each process that is forked from this one, before anything else.
void in_forked_processes(void (*function)());

}  // namespace ov_gather
