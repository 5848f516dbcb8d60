// Cache sizes that the kernels adapt to, derived from the second-level cache, which is private to a core. The size of the
// last-level cache is not used: in a virtual machine it is shared with others.
#pragma once

#include <algorithm>
#include <cstdint>

#include "platform.hpp"

namespace ov_gather {

inline int64_t second_level_cache() {
    static const int64_t size = std::max<int64_t>(second_level_cache_size(), 1 << 18);
    return size;
}

// Bytes that stay in near caches, next to other data in use.
inline int64_t near_cache() { return second_level_cache() / 4 * 3; }

// Bytes moved by an operation (more than its output) above which the output is streamed around the caches. AMD's last-level
// cache is as fast as Intel's second-level cache, so that outputs that fit into it should stay there.
inline int64_t cached_bytes() {
    static const int64_t size = is_intel() ? 8 * second_level_cache() : 48 << 20;
    return size;
}

constexpr int64_t largest_buffer = 1 << 23;  // bytes of a packed column at most: the reach of the second-level TLB

}  // namespace ov_gather
