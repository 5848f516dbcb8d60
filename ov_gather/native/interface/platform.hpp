// Differences between compilers and systems. Functions are static for the reason given in lines.cpp.
#pragma once

#include <stdint.h>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#define OV_GATHER_EXPORT __declspec(dllexport)
#else
#define OV_GATHER_EXPORT __attribute__((visibility("default"), used))
#endif

// On x86-64, lines.cpp is also compiled for AVX2 and AVX-512, except by Microsoft's compiler and replacements for it.
#if defined(__x86_64__) && !defined(_MSC_VER)
#define OV_GATHER_HAS_AVX 1
#else
#define OV_GATHER_HAS_AVX 0
#endif

// APART is for functions that several others call: a copy in each takes longer to compile, and runs no faster. INLINE is for
// functions that only prefetch: GCC takes them for functions without an effect, and drops calls of those that it does not
// inline.
#if defined(_MSC_VER)
#define OV_GATHER_APART __declspec(noinline)
#define OV_GATHER_INLINE __forceinline
#else
#define OV_GATHER_APART __attribute__((noinline))
#define OV_GATHER_INLINE inline __attribute__((always_inline))
#endif

#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // false positives in GCC 12's AVX-512 header
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace ov_gather {

// Prefetch the cache line at an address, which may be invalid.
static OV_GATHER_INLINE void fetch(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#elif defined(_M_X64)
    _mm_prefetch(static_cast<const char*>(address), _MM_HINT_T0);
#else
    (void)address;
#endif
}

// Prefetch into the second-level cache only.
static OV_GATHER_INLINE void fetch_far(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address, 0, 2);
#elif defined(_M_X64)
    _mm_prefetch(static_cast<const char*>(address), _MM_HINT_T1);
#else
    (void)address;
#endif
}

// Prefetch for writing.
static OV_GATHER_INLINE void fetch_to_write(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address, 1);
#else
    fetch(address);
#endif
}

// Read a number from memory exactly once, so that the value checked is the value used even if another thread changes the
// memory. The compiler may read an ordinary variable twice.
template <typename Number>
static inline Number load_once(const Number* address) {
#if defined(__GNUC__)
    return __atomic_load_n(address, __ATOMIC_RELAXED);
#else
    return *static_cast<const volatile Number*>(address);
#endif
}

#if OV_GATHER_HAS_AVX
// Keep a vector in a register, so that the compiler does not read its memory again, for the same reason.
template <typename Vector>
static inline Vector in_register(Vector value) {
    __asm__ volatile("" : "+v"(value));
    return value;
}
#endif

// Pause in a loop that waits for another thread.
static inline void relax() {
#if OV_GATHER_HAS_AVX
    __builtin_ia32_pause();
#elif defined(_M_X64)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

// Return true if machine and system support these instruction sets of instruction_sets.txt.
bool has_avx2();
bool has_avx512();

bool is_intel();

bool is_zen_4();

// Return the size of the second-level cache, which is private to a core, in bytes; 0 if unknown.
int64_t second_level_cache_size();

// Return the size of the last-level cache in bytes, 0 if unknown.
int64_t last_level_cache_size();

}  // namespace ov_gather
