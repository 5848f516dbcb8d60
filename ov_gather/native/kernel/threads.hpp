// A loop is shared out among threads. Who compiles the kernel says which: the Python module has threads of its own, and inside
// OpenVINO the plugin's take part.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>

namespace ov_gather {

// The positions from `begin()` to the one before `end()`.
class Range {
public:
    Range(int64_t begin, int64_t end) : m_begin(begin), m_end(end) {}
    int64_t begin() const { return m_begin; }
    int64_t end() const { return m_end; }
    int64_t size() const { return m_end - m_begin; }

private:
    int64_t m_begin, m_end;
};

// Calls `work` for parts of [0, count), each of about `grain` or more, on several threads. An exception of `work` comes out of
// it.
void spread(int64_t count, int64_t grain, const std::function<void(const Range&)>& work);

// Throws if the user has asked for an end. Work of more than some 10 ms calls this now and then.
void check_interrupt();

// So many threads share a loop.
int64_t thread_count();

// Does the same as spread, but leaves work that is too little for two threads to the calling one.
template <typename Work>
void in_parallel(int64_t count, int64_t grain, const Work& work) {
    if (count <= grain)
        work(Range(0, count));
    else
        spread(count, grain, std::cref(work));
}

inline void copy_in_parallel(const char* from, char* to, int64_t bytes) {
    constexpr int64_t grain = 1 << 16;
    if (bytes != 0)  // The address of nothing may be null.
        in_parallel(bytes, grain,
                    [=](const Range& range) { std::memcpy(to + range.begin(), from + range.begin(), range.size()); });
}

}  // namespace ov_gather
