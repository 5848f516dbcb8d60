// A loop runs on our own threads if set_num_threads was called; else on those of the caller's TBB arena, which inside OpenVINO
// is the plugin's, with its limit.
#pragma once

#include <tbb/blocked_range.h>

#include <cstdint>
#include <functional>

namespace ov_gather {

using Range = tbb::blocked_range<int64_t>;

// `n` is at least 1. Before the first call, loops run on the threads of the caller's TBB arena.
void set_num_threads(int count);

// Calls `work` for parts of [0, count), each of about `grain` or more, on several threads.
void spread(int64_t count, int64_t grain, const std::function<void(const Range&)>& work);

// Does the same, but leaves work that is too little for two threads to the calling one.
template <typename Work>
void in_parallel(int64_t count, int64_t grain, const Work& work) {
    if (count <= grain)
        work(Range(0, count));
    else
        spread(count, grain, std::cref(work));
}

}  // namespace ov_gather
