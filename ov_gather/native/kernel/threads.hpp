// Parallel loops. The user of the kernel implements them: the Python module by its own thread pool, the OpenVINO extension by
// TBB, on the plugin's threads.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>

namespace ov_gather {

// The positions begin() to end() - 1.
class Range {
public:
    Range(int64_t begin, int64_t end) : m_begin(begin), m_end(end) {}
    int64_t begin() const { return m_begin; }
    int64_t end() const { return m_end; }
    int64_t size() const { return m_end - m_begin; }

private:
    int64_t m_begin, m_end;
};

// Call `work` for parts of [0, count), each of about `grain` or more, on several threads. Exceptions of `work` propagate.
void spread(int64_t count, int64_t grain, const std::function<void(const Range&)>& work);

// Throw if the user has interrupted. Work of more than some 10 ms calls this now and then.
void check_interrupt();

// Return the number of threads that share a loop.
int64_t thread_count();

// Return the number of gathered elements from which waking another thread pays.
int64_t elements_per_thread();

// Call `spread`, or run on the calling thread if there is too little work for two.
template <typename Work>
void in_parallel(int64_t count, int64_t grain, const Work& work) {
    if (count <= grain)
        work(Range(0, count));
    else
        spread(count, grain, std::cref(work));
}

inline void copy_in_parallel(const char* from, char* to, int64_t bytes) {
    constexpr int64_t grain = 1 << 18;
    if (bytes != 0)  // the addresses may be null
        in_parallel(bytes, grain,
                    [=](const Range& range) { std::memcpy(to + range.begin(), from + range.begin(), range.size()); });
}

}  // namespace ov_gather
