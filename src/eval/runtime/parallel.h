// The work of one kernel on several cores.
//
// A kernel cuts its work into tasks by its shapes alone, never by the number of threads, and along
// its outputs, never along a sum. So the results are the same on any number of threads.
#pragma once

#include <cstdint>

#include "eval/runtime/interrupt.h"

namespace sardonyx::eval {

// The threads that `wanted` stands for: 0 is one for each core that this process may use. 1 where
// the system has no threads.
int thread_count(int wanted);

// Who works for a kernel: so many threads, and what may end their work before its end.
struct Workers {
    int threads = 1;
    Interrupt* interrupt = nullptr;

    // Whether to leave the rest undone. A kernel whose tasks are long asks within them, too.
    bool poll() const { return interrupt != nullptr && interrupt->poll(); }
    bool are_stopped() const { return interrupt != nullptr && interrupt->is_stopped(); }
};

// Runs task(data, i) for i in [0, count), this thread included. Serially with 1 thread, and within
// a task. When the run is stopped, tasks are left out: what they would have made is indeterminate.
using Task = void (*)(const void* data, int64_t i);
void run_tasks(const Workers& workers, int64_t count, Task task, const void* data);

// How many items of so many operations each make a task that is worth a thread.
constexpr int64_t items_per_task(int64_t operations) {
    constexpr int64_t kTask = 1 << 17;
    return operations >= kTask ? 1 : kTask / (operations < 1 ? 1 : operations);
}

// Calls body(begin, end) for pieces of [0, n); each but the last is `piece` long.
template <typename Body>
void parallel_for(const Workers& workers, int64_t n, int64_t piece, const Body& body) {
    struct Pieces {
        int64_t n;
        int64_t piece;
        const Body& body;
    };
    Pieces pieces{n, piece, body};
    Task task = [](const void* data, int64_t i) {
        const Pieces& p = *static_cast<const Pieces*>(data);
        int64_t begin = i * p.piece;
        p.body(begin, p.n - begin < p.piece ? p.n : begin + p.piece);
    };
    run_tasks(workers, (n + piece - 1) / piece, task, &pieces);
}

// Elements of light work after which a loop asks whether the run shall end: about a millisecond.
constexpr int64_t kPolled = 1 << 16;

// For what one thread does as a whole: calls body(begin, end) for pieces of [0, n), in order, and
// asks between them. False: the run shall end, and the rest is not done.
template <typename Body>
inline bool in_turns(const Workers& workers, int64_t n, int64_t piece, const Body& body) {
    for (int64_t begin = 0; begin < n; begin += piece) {
        if (begin > 0 && workers.poll()) [[unlikely]] {
            return false;
        }
        body(begin, n - begin < piece ? n : begin + piece);
    }
    return true;
}

}  // namespace sardonyx::eval
