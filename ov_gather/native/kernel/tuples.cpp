#include "tuples.hpp"

#include <atomic>

#include "threads.hpp"

namespace ov_gather {
namespace {

constexpr int64_t grain = 1 << 13;  // so many tuples are worth another thread

template <typename Index>
bool flatten(const Index* tuple, const std::vector<int64_t>& dims, int64_t& flat) {
    flat = 0;
    for (size_t i = 0; i < dims.size(); ++i) {
        int64_t index = read_once<Index>(tuple + i);
        index += (index >> 63) & dims[i];
        if (index < 0 || index >= dims[i]) return false;
        flat = flat * dims[i] + index;
    }
    return true;
}

template <typename Index>
int64_t flatten_all(const Index* indices, int64_t count, const std::vector<int64_t>& dims, int64_t* flat) {
    std::atomic<int64_t> first_bad{count};
    in_parallel(count, grain, [&](const Range& range) {
        for (int64_t i = range.begin(); i < range.end(); ++i) {
            if (flatten(indices + i * dims.size(), dims, flat[i])) continue;
            int64_t seen = first_bad.load();
            while (i < seen && !first_bad.compare_exchange_weak(seen, i)) {
            }
            return;
        }
    });
    return first_bad == count ? all_in_bounds : first_bad.load();
}

}  // namespace

int64_t flatten_tuples(const char* indices, IndexType type, int64_t count, const std::vector<int64_t>& dims, int64_t* flat) {
    return type == IndexType::int32 ? flatten_all(reinterpret_cast<const int32_t*>(indices), count, dims, flat)
                                    : flatten_all(reinterpret_cast<const int64_t*>(indices), count, dims, flat);
}

}  // namespace ov_gather
