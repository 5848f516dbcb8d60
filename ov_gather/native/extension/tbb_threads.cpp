// Loops run on the threads of the caller's TBB arena, which inside OpenVINO is the plugin's, with its limit.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "threads.hpp"

namespace ov_gather {

int64_t thread_count() { return tbb::this_task_arena::max_concurrency(); }

void check_interrupt() {}  // OpenVINO has no way to end an inference that runs

// The loop is shared out evenly at once, as the plugin does it with its own: some are over before a thread could take more.
void spread(int64_t count, int64_t grain, const std::function<void(const Range&)>& work) {
    using Part = tbb::blocked_range<int64_t>;
    tbb::parallel_for(
        Part(0, count, grain), [&](const Part& part) { work({part.begin(), part.end()}); }, tbb::static_partitioner());
}

}  // namespace ov_gather
