// Both kernels assume these sizes of caches, which hold on any machine of the last ten years.
#pragma once

#include <cstdint>

namespace ov_gather {

constexpr int64_t near_cache = 1 << 18;      // bytes that stay close to one core
constexpr int64_t largest_buffer = 1 << 23;  // bytes of a packed column: what the second-level TLB reaches

}  // namespace ov_gather
