// A pool of threads that sleep between the kernels. It is made when it is first needed and lives as
// long as the process; one kernel at a time uses it, and whoever else comes works alone.
#include "eval/runtime/parallel.h"

#include "eval/runtime/helper_thread.h"

#if defined(__EMSCRIPTEN__)

namespace sardonyx::eval {

int thread_count(int) {
    return 1;
}

bool is_helper_thread() {
    return false;
}

void run_tasks(const Workers& workers, int64_t count, Task task, const void* data) {
    for (int64_t i = 0; i < count && (i == 0 || !workers.poll()); ++i) {
        task(data, i);
    }
}

}  // namespace sardonyx::eval

#else

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>
#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

#include "base/signals.h"

namespace sardonyx::eval {
namespace {

// How often a thread looks for work before it sleeps: kernels follow each other within
// microseconds, and waking a thread costs some of them.
constexpr int kLooks = 4000;
constexpr int kMostThreads = 256;

int core_count() {
#if defined(__linux__)
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) == 0) {
        return CPU_COUNT(&cores);
    }
#endif
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

long process_id() {
#if defined(__unix__) || defined(__APPLE__)
    return static_cast<long>(getpid());
#else
    return 0;
#endif
}

void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

thread_local bool is_within_task = false;
thread_local bool is_helper = false;

// The tasks are cut into a stretch for each thread, which helps with the others' when its own is
// done. So a thread reads and writes neighbouring memory, and in one kernel after the other mostly
// the same part of the tensors, which its cache still has.
class Job {
  public:
    Job(Task task, const void* data, int64_t count, int threads, const Workers& workers)
        : task_(task),
          data_(data),
          workers_(workers),
          stretch_count_(std::min<int64_t>({threads, count, kStretches})) {
        for (int64_t s = 0; s < stretch_count_; ++s) {
            // In parts, so that the product cannot overflow.
            int64_t each = count / stretch_count_, rest = count % stretch_count_;
            stretches_[s].next = s * each + std::min(s, rest);
            stretches_[s].end = (s + 1) * each + std::min(s + 1, rest);
        }
    }

    // What thread `thread` of those that work does.
    void work(int thread) {
        for (int64_t s = 0; s < stretch_count_; ++s) {
            Stretch& stretch = stretches_[(thread + s) % stretch_count_];
            for (int64_t i = stretch.next++; i < stretch.end; i = stretch.next++) {
                if (!do_task(i) || workers_.poll()) {
                    return;
                }
            }
        }
    }

    // Whether a task has run out of memory.
    bool has_failed() const { return has_failed_; }

  private:
    // No exception leaves a helper's thread, nor this one's while helpers use the job.
    bool do_task(int64_t i) {
        try {
            task_(data_, i);
        } catch (const std::bad_alloc&) {
            has_failed_ = true;
        }
        return !has_failed_.load(std::memory_order_relaxed);
    }

    static constexpr int64_t kStretches = 16;
    struct alignas(64) Stretch {
        std::atomic<int64_t> next;
        int64_t end;
    };

    Task task_;
    const void* data_;
    const Workers& workers_;
    int64_t stretch_count_;
    std::atomic<bool> has_failed_ = false;
    std::array<Stretch, kStretches> stretches_;
};

class Pool {
  public:
    // False: the pool is in use.
    bool run(const Workers& workers, int64_t count, Task task, const void* data) {
        std::unique_lock<std::mutex> in_use(in_use_, std::try_to_lock);
        if (!in_use.owns_lock()) {
            return false;
        }
        int helpers = static_cast<int>(std::min<int64_t>(workers.threads, count)) - 1;
        Job job(task, data, count, helpers + 1, workers);
        {
            std::lock_guard<std::mutex> lock(state_);
            if (thread_count_ < helpers) {
                SignalsBlocked blocked;
                while (thread_count_ < helpers) {
                    std::thread([this, index = ++thread_count_] { serve(index); }).detach();
                }
            }
            job_ = &job;
            places_ = helpers;
            ++generation_;
        }
        wake_.notify_all();
        is_within_task = true;
        job.work(0);
        is_within_task = false;
        {
            std::lock_guard<std::mutex> lock(state_);
            job_ = nullptr;  // whoever has not come yet need not come
        }
        for (int look = 0; active_.load(std::memory_order_acquire) > 0; ++look) {
            look < kLooks ? pause() : std::this_thread::yield();
        }
        if (job.has_failed()) {
            throw std::bad_alloc();
        }
        return true;
    }

  private:
    // `index`: 1 for the first thread beside those that call.
    void serve(int index) {
        is_helper = true;
        is_within_task = true;  // a task runs its own tasks serially
        uint64_t seen = 0;
        while (true) {
            for (int look = 0; look < kLooks && generation_.load() == seen; ++look) {
                pause();
            }
            Job* job = nullptr;
            {
                std::unique_lock<std::mutex> lock(state_);
                wake_.wait(lock, [&] { return generation_.load() != seen; });
                seen = generation_.load();
                if (job_ != nullptr && places_ > 0) {
                    --places_;
                    ++active_;
                    job = job_;
                }
            }
            if (job != nullptr) {
                job->work(index);
                active_.fetch_sub(1, std::memory_order_release);
            }
        }
    }

    std::mutex in_use_;
    std::mutex state_;  // of the members below
    std::condition_variable wake_;
    std::atomic<uint64_t> generation_{0};  // of jobs; read without the lock as a hint
    Job* job_ = nullptr;
    int places_ = 0;  // for threads that may still join the job
    int thread_count_ = 0;
    std::atomic<int> active_{0};
};

// The pool of this process. A forked child has none of its parent's threads, so it begins anew.
Pool& pool() {
    static std::mutex lock;
    static Pool* current = nullptr;
    static long owner = 0;
    std::lock_guard<std::mutex> guard(lock);
    if (current == nullptr || owner != process_id()) {
        current = new Pool;  // never freed: its threads outlive every other object
        owner = process_id();
    }
    return *current;
}

}  // namespace

int thread_count(int wanted) {
    static const int cores = core_count();
    return std::clamp(wanted == 0 ? cores : wanted, 1, kMostThreads);
}

bool is_helper_thread() {
    return is_helper;
}

void run_tasks(const Workers& workers, int64_t count, Task task, const void* data) {
    if (workers.threads < 2 || count < 2 || is_within_task ||
        !pool().run(workers, count, task, data)) {
        for (int64_t i = 0; i < count && (i == 0 || !workers.poll()); ++i) {
            task(data, i);
        }
    }
}

}  // namespace sardonyx::eval

#endif
