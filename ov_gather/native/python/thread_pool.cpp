#include "thread_pool.hpp"

#include <Python.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "cores.hpp"
#include "platform.hpp"

namespace ov_gather {
namespace {

constexpr int64_t parts_a_thread = 4;   // bounds how long the others wait for a late thread
constexpr int64_t grains_a_part = 256;  // bounds the time until the calling thread checks for an interrupt

// Time of polling before a thread sleeps. Waking it takes 20 to 50 us in a virtual machine: with 10 us of polling, which are
// 1,000 pauses of a Xeon (Granite Rapids), loops of 100 to 500 us that follow each other took 1.1 to 1.6 times as long.
constexpr std::chrono::microseconds patience(100);
constexpr std::chrono::milliseconds between_signals(100);

// Run Python's handlers of pending signals, at most every 100 ms. Return true if one has raised.
bool run_signal_handlers() {
    using Clock = std::chrono::steady_clock;
    thread_local Clock::time_point last = Clock::now();
    if (Clock::now() - last < between_signals) return false;
    const PyGILState_STATE state = PyGILState_Ensure();
    const bool raised = PyErr_CheckSignals() != 0;  // only ever true in Python's main thread
    PyGILState_Release(state);
    last = Clock::now();
    return raised;
}

int is_interrupted();

// Poll until a condition holds, or until waiting longer is worth a sleep.
template <typename Condition>
void poll(const Condition& holds) {
    using Clock = std::chrono::steady_clock;
    if (holds()) return;
    for (const auto end = Clock::now() + patience; !holds() && Clock::now() < end;) relax();
}

// A parallel loop. It lives on the stack of the calling thread, which waits until all helpers have left.
class Task {
public:
    Task(int64_t count, int64_t step, ov_gather_work work, void* context)
        : m_work(work), m_context(context), m_count(count), m_step(step) {}

    // Run parts until none is left, or one stops.
    void run() {
        for (int64_t begin; (begin = m_next.fetch_add(m_step)) < m_count;) {
            const int64_t result =
                is_interrupted() ? ov_gather_interrupted : m_work(m_context, begin, std::min(begin + m_step, m_count));
            if (result != ov_gather_done) stop(result);
        }
    }

    // Stop the loop with this result, unless it has stopped before.
    void stop(int64_t result) {
        m_next = m_count;
        int64_t done = ov_gather_done;
        m_result.compare_exchange_strong(done, result);
    }

    bool has_stopped() const { return m_result != ov_gather_done; }
    int64_t result() const { return m_result; }
    int64_t parts() const { return (m_count + m_step - 1) / m_step; }
    bool has_parts_left() const { return m_next < m_count; }

    std::atomic<int> helpers{0};

private:
    const ov_gather_work m_work;
    void* const m_context;
    const int64_t m_count, m_step;
    std::atomic<int64_t> m_next{0}, m_result{ov_gather_done};
};

thread_local const Task* helped = nullptr;  // the task that this pool thread is running

// A thread pool. A task completes even if no pool thread helps.
class Pool {
public:
    explicit Pool(int threads) : m_threads(threads) {}

    int threads() const { return m_threads; }

    void set_threads(int count) {
        const std::lock_guard<std::mutex> lock(m_mutex);
        m_threads = count;
        m_opened.notify_all();  // surplus threads end
    }

    void run(Task& task) {
        {
            const std::lock_guard<std::mutex> lock(m_mutex);
            start_helpers();
            m_open.push_back(&task);
            ++m_opened_tasks;
        }
        m_caller_core = current_core();
        wake(std::min<int64_t>(task.parts(), m_threads) - 1);
        task.run();
        close(task);
        poll([&] { return task.helpers == 0; });
        if (task.helpers == 0) return;
        ++m_waiting;  // helpers that leave the task from now on see it
        std::unique_lock<std::mutex> lock(m_mutex);
        while (!m_left.wait_for(lock, between_signals, [&] { return task.helpers == 0; })) {
            lock.unlock();
            if (is_interrupted()) task.stop(ov_gather_interrupted);  // so that its helpers leave
            lock.lock();
        }
        --m_waiting;
    }

private:
    void start_helpers() {
        try {
            for (; m_started < m_threads - 1; ++m_started) std::thread(&Pool::help, this).detach();
        } catch (const std::system_error&) {  // no more threads allowed: the others do the work
        }
    }

    void wake(int64_t helpers) {
        for (; helpers > 0; --helpers) m_opened.notify_one();
    }

    // Prevent more threads from helping with a task.
    void close(Task& task) {
        const std::lock_guard<std::mutex> lock(m_mutex);
        m_open.erase(std::find(m_open.begin(), m_open.end(), &task));
    }

    Task* find_task() const {
        const auto found = std::find_if(m_open.begin(), m_open.end(), [](const Task* task) { return task->has_parts_left(); });
        return found == m_open.end() ? nullptr : *found;
    }

    bool are_too_many() const { return m_started > m_threads - 1; }

    // Leave the core of the thread that opened the last task. In virtual machines Linux mistakes idle cores for busy ones, and
    // wakes a thread on its waker's core, where it would run after the task.
    void leave_caller() const {
        const int core = m_caller_core;
        if (current_core() == core) leave_core(core);
    }

    void help() {
        for (int64_t seen = 0;;) {  // tasks opened when this thread last found none to help with
            poll([&] { return m_opened_tasks != seen; });
            std::unique_lock<std::mutex> lock(m_mutex);
            if (m_opened_tasks == seen && !are_too_many()) m_opened.wait(lock);
            if (are_too_many()) {
                --m_started;
                return;
            }
            Task* const task = find_task();
            seen = task ? 0 : m_opened_tasks.load();
            if (task) ++task->helpers;
            lock.unlock();
            leave_caller();
            if (!task) continue;
            helped = task;
            task->run();
            helped = nullptr;
            --task->helpers;  // the task may be destroyed from here on
            if (m_waiting == 0) continue;
            lock.lock();
            m_left.notify_all();
        }
    }

    std::atomic<int> m_threads;
    int m_started = 0;  // running threads
    std::mutex m_mutex;
    std::condition_variable m_opened, m_left;
    std::vector<Task*> m_open;
    std::atomic<int64_t> m_opened_tasks{0};  // ever opened; also read without the mutex
    std::atomic<int> m_waiting{0}, m_caller_core{-1};
};

// Return the pool, which is never destroyed, because its threads may outlive everything else. A forked process gets a new one.
Pool& pool() {
    static std::atomic<Pool*> current{nullptr};
    static std::once_flag made;
    std::call_once(made, [] {
        current = new Pool(available_cores());
        in_forked_processes([] { current = new Pool(current.load()->threads()); });
    });
    return *current;
}

// Return nonzero if a signal handler has raised, or if the task that this thread helps with has stopped.
int is_interrupted() { return helped ? helped->has_stopped() : run_signal_handlers(); }

int64_t thread_count() { return pool().threads(); }

int64_t spread(int64_t count, int64_t grain, ov_gather_work work, void* context) {
    Pool& threads = pool();
    const int64_t workers = threads.threads(), longest = grain * grains_a_part;
    if (workers == 1) {
        for (int64_t begin = 0; begin < count; begin += longest) {
            if (is_interrupted()) return ov_gather_interrupted;
            const int64_t result = work(context, begin, std::min(begin + longest, count));
            if (result != ov_gather_done) return result;
        }
        return ov_gather_done;
    }
    int64_t parts = std::min(workers * parts_a_thread, (count + grain - 1) / grain);
    parts = std::max(parts, (count + longest - 1) / longest);
    if (parts > workers) parts = (parts + workers - 1) / workers * workers;  // an equal number per thread
    Task task(count, (count + parts - 1) / parts, work, context);
    try {
        threads.run(task);
    } catch (const std::bad_alloc&) {  // before a part has begun
        return ov_gather_no_memory;
    }
    return task.result();
}

}  // namespace

// Workers sleep between calls. Gathering 16,384 elements after a pause takes 6 us, or 75 us if a second thread is woken for a
// half (Sapphire Rapids).
const ov_gather_threads pool_threads{spread, is_interrupted, thread_count, 1 << 15};

void set_num_threads(int count) { pool().set_threads(count); }

}  // namespace ov_gather
