// Both kernels tie what they do to the second-level cache, which a core has to itself. The last-level cache is not asked for: a
// virtual machine tells the size that it shares with others.
#pragma once

#include <algorithm>
#include <cstdint>

#include "platform.hpp"

namespace ov_gather {

inline int64_t second_level_cache() {
    static const int64_t size = std::max<int64_t>(second_level_cache_size(), 1 << 18);
    return size;
}

// Bytes that stay close to one core, beside what else is in use.
inline int64_t near_cache() { return second_level_cache() / 4 * 3; }

// An operation that moves more bytes than these writes its output around the caches. A last-level cache of AMD's is as close to
// the core as its second-level cache of Intel's is, so that an output that fits into it had better stay there; an operation
// moves more than its output.
inline int64_t cached_bytes() {
    static const int64_t size = is_intel() ? 8 * second_level_cache() : 48 << 20;
    return size;
}

constexpr int64_t largest_buffer = 1 << 23;  // bytes of a packed column: what the second-level TLB reaches

}  // namespace ov_gather
