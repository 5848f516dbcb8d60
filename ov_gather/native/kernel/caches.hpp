// Cache sizes that the kernels adapt to, derived from the second-level cache, which is private to a core. The last-level cache
// counts little: in a virtual machine it is shared with others.
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

// Return true if loads from data of this size miss the near caches so often that prefetches, or gather instructions on a Zen 4,
// pay for themselves. There these take 0.65 to 1.0 of the time from 0.8 MB to 1.3 MB.
inline bool is_beyond_near(int64_t bytes) {
    static const int64_t least = is_zen_4() ? near_cache() : second_level_cache() / 4 * 5;
    return bytes > least;
}

// Return true if data of this size exceed the second-level cache a few times at most, and gather instructions, whose loads
// overlap, then pay. They took 0.9 of the time of prefetches of single elements on a Xeon (Granite Rapids; 4 MB, 8 MB), but 1.1
// at 16 MB; on a Zen 4 with 1 MB of cache 0.45 to 0.8 from 1.3 MB to 8 MB, but up to 1.3 at 10 MB. Zen 5 was not measured.
inline bool is_near(int64_t bytes) {
    static const int64_t most = (is_intel() ? 5 : is_zen_4() ? 8 : 0) * second_level_cache();
    return bytes <= most;
}

// Return true if an operation should stream its output around the caches. It moves `moved` bytes, and its indices reach `reach`
// bytes of data. If these exceed the near caches, streaming 25 MB gained 1.25 on a Xeon with a last-level cache of 300 MB, and
// lost 1.1 on one of 480 MB (Granite Rapids), where it gains from 100 MB on. `by_element` says that each element has an index:
// if data exceed the near caches a few times, 8 MB moved gain 1.0 to 1.3 there. Whole rows lose as much. On a Zen 4, rows of
// data beyond the caches displace the output in them anyway: 25 MB moved take 0.3 to 0.8 of the time on one thread and 0.6
// to 1.0 on two, also if the output is read afterwards.
inline bool is_streamed(int64_t moved, int64_t reach, bool by_element) {
    static const int64_t last_level = is_intel() ? last_level_cache_size() / 16 : 0;
    if (by_element && is_intel() && is_beyond_near(reach) && is_near(reach)) return moved > 4 * second_level_cache();
    if (!by_element && is_zen_4() && reach > cached_bytes()) return moved > cached_bytes() / 3;
    return moved > cached_bytes() && (moved > last_level || !is_beyond_near(reach));
}

constexpr int64_t largest_buffer = 1 << 23;  // bytes of a packed column at most: the reach of the second-level TLB

}  // namespace ov_gather
