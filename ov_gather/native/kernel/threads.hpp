// Parallel loops, interrupts and errors of the kernel, on the threads that its caller provides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>

#include "ov_gather_kernel.h"

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

// Thrown to stop all work of a call, which then returns the result.
struct Stopped {
    int64_t result;
};

// Return the result of `call`, or that of what it throws: no exception leaves the library. Besides Stopped, only containers
// throw.
template <typename Call>
int64_t result_of(const Call& call) noexcept {
    try {
        return call();
    } catch (const Stopped& stopped) {
        return stopped.result;
    } catch (const std::exception&) {
        return ov_gather_no_memory;
    }
}

class Threads {
public:
    explicit Threads(const ov_gather_threads& given) : m_given(given) {}

    // Call `work` for Ranges of about `grain` or more positions, on several threads; on this thread if there is too little work
    // for two.
    template <typename Work>
    void in_parallel(int64_t count, int64_t grain, const Work& work) const {
        if (count <= grain) return work(Range(0, count));
        const auto part = [](void* context, int64_t begin, int64_t end) {
            return result_of([&] {
                (*static_cast<const Work*>(context))(Range(begin, end));
                return ov_gather_done;
            });
        };
        const int64_t result = m_given.spread(count, grain, part, const_cast<Work*>(&work));
        if (result != ov_gather_done) throw Stopped{result};
    }

    void copy(const char* from, char* to, int64_t bytes) const {
        constexpr int64_t grain = 1 << 18;
        if (bytes != 0)  // the addresses may be null
            in_parallel(bytes, grain,
                        [=](const Range& range) { std::memcpy(to + range.begin(), from + range.begin(), range.size()); });
    }

    // Throw if the user has interrupted. Work of more than some 10 ms calls this now and then.
    void check_interrupt() const {
        if (m_given.is_interrupted()) throw Stopped{ov_gather_interrupted};
    }

    int64_t count() const { return std::max<int64_t>(1, m_given.count()); }
    int64_t elements_per_thread() const { return m_given.elements_per_thread; }

private:
    const ov_gather_threads& m_given;
};

}  // namespace ov_gather
