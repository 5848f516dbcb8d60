// Loops run on the threads of the caller's TBB arena, which inside OpenVINO is the plugin's, with its limit.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "threads.hpp"

namespace ov_gather {

int64_t thread_count() { return tbb::this_task_arena::max_concurrency(); }

void spread(int64_t count, int64_t grain, const std::function<void(const Range&)>& work) {
    using Part = tbb::blocked_range<int64_t>;
    tbb::parallel_for(Part(0, count, grain), [&](const Part& part) { work({part.begin(), part.end()}); });
}

}  // namespace ov_gather
