#include "threads.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <memory>

namespace ov_gather {
namespace {

std::shared_ptr<tbb::task_arena> own_arena;  // A thread that runs in the arena keeps it alive.

}  // namespace

void set_num_threads(int count) { std::atomic_store(&own_arena, std::make_shared<tbb::task_arena>(count)); }

void spread(int64_t count, int64_t grain, const std::function<void(const Range&)>& work) {
    const auto run = [&] { tbb::parallel_for(Range(0, count, grain), work); };
    if (const auto arena = std::atomic_load(&own_arena))
        arena->execute(run);
    else
        run();
}

}  // namespace ov_gather
