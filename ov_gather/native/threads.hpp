// Which threads a loop runs on: our own, if set_num_threads was called; else those of the caller's TBB arena, which inside
// OpenVINO is the plugin's, with its limit.
#pragma once

#include <tbb/blocked_range.h>

#include <cstdint>
#include <functional>

namespace ov_gather {

using Range = tbb::blocked_range<int64_t>;

// At least 1; before the first call, those of the caller's TBB arena.
void set_num_threads(int count);

// Calls `work` for parts of [0, count), each of about `grain` or more, on several threads.
void spread(int64_t count, int64_t grain, const std::function<void(const Range&)>& work);

// The same; but what is too little for two threads is not handed to another.
template <typename Work>
void in_parallel(int64_t count, int64_t grain, const Work& work) {
    if (count <= grain)
        work(Range(0, count));
    else
        spread(count, grain, std::cref(work));
}

}  // namespace ov_gather
