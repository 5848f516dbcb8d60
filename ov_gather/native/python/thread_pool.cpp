#include "thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "platform.hpp"
#include "threads.hpp"

namespace ov_gather {
namespace {

constexpr int64_t parts_a_thread = 4;  // so that a thread which is late does not keep the others waiting for long
constexpr int spins = 1000;            // a thread that has just worked looks so often for more, before it sleeps

// A loop that threads share out. It lives on the stack of the thread that called, which does not leave before the helpers do.
class Task {
public:
    Task(int64_t count, int64_t step, const std::function<void(const Range&)>& work)
        : m_work(work), m_count(count), m_step(step) {}

    // Does part after part until none is left.
    void run() noexcept {
        try {
            for (int64_t begin; (begin = m_next.fetch_add(m_step)) < m_count;)
                m_work({begin, std::min(begin + m_step, m_count)});
        } catch (...) {
            m_next = m_count;
            if (!m_failed.exchange(true)) m_error = std::current_exception();
        }
    }

    // Raises what a part raised. Nobody may be running parts any more.
    void finish() const {
        if (m_error) std::rethrow_exception(m_error);
    }

    std::atomic<int> helpers{0};

private:
    const std::function<void(const Range&)>& m_work;
    const int64_t m_count, m_step;
    std::atomic<int64_t> m_next{0};
    std::atomic<bool> m_failed{false};
    std::exception_ptr m_error;
};

// A pool of threads. A task is done even if no thread of the pool comes to help.
class Pool {
public:
    explicit Pool(int threads) : m_threads(threads) {}

    int threads() const { return m_threads; }
    void set_threads(int count) { m_threads = count; }

    void run(Task& task) {
        {
            const std::lock_guard<std::mutex> lock(m_mutex);
            start_helpers();
            m_open.push_back(&task);
            ++m_open_count;
        }
        m_opened.notify_all();
        task.run();
        close(task);
        for (int i = 0; i < spins && task.helpers != 0; ++i) relax();
        std::unique_lock<std::mutex> lock(m_mutex);
        m_left.wait(lock, [&] { return task.helpers == 0; });
    }

private:
    void start_helpers() {
        try {
            for (; m_started < m_threads - 1; ++m_started) std::thread(&Pool::help, this, m_started).detach();
        } catch (const std::system_error&) {  // the system allows no more threads: the others do the work
        }
    }

    // No thread begins to help with a task that is closed.
    void close(Task& task) {
        const std::lock_guard<std::mutex> lock(m_mutex);
        const auto found = std::find(m_open.begin(), m_open.end(), &task);
        if (found == m_open.end()) return;
        m_open.erase(found);
        --m_open_count;
    }

    void help(int number) {
        const auto wanted = [&] { return !m_open.empty() && number < m_threads - 1; };
        for (;;) {
            for (int i = 0; i < spins && m_open_count == 0; ++i) relax();
            std::unique_lock<std::mutex> lock(m_mutex);
            m_opened.wait(lock, wanted);
            Task& task = *m_open.front();
            ++task.helpers;
            lock.unlock();
            task.run();
            close(task);
            lock.lock();
            --task.helpers;
            m_left.notify_all();
        }
    }

    std::atomic<int> m_threads;
    int m_started = 0;
    std::mutex m_mutex;
    std::condition_variable m_opened, m_left;
    std::vector<Task*> m_open;
    std::atomic<int> m_open_count{0};  // is read without the mutex
};

// The pool is never destroyed, because its threads may outlive everything else. A process that was forked has none of them, and
// gets a new pool.
Pool& pool() {
    static std::atomic<Pool*> current{nullptr};
    static std::once_flag made;
    std::call_once(made, [] {
        current = new Pool(available_cores());
        in_forked_processes([] { current = new Pool(current.load()->threads()); });
    });
    return *current;
}

}  // namespace

void set_num_threads(int count) { pool().set_threads(count); }

void spread(int64_t count, int64_t grain, const std::function<void(const Range&)>& work) {
    Pool& threads = pool();
    const int64_t parts = threads.threads() * parts_a_thread;
    Task task(count, std::max(grain, (count + parts - 1) / parts), work);
    if (threads.threads() == 1)
        task.run();
    else
        threads.run(task);
    task.finish();
}

}  // namespace ov_gather
