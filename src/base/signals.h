// Signals that wait.
#pragma once

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <signal.h>
#include <initializer_list>
#endif

namespace sardonyx {

// While one lives, no signal is handled on this thread, nor ever on the threads that it makes
// meanwhile: signals to the process go to its other threads, or wait. Those of a fault do not wait.
class SignalsBlocked {
  public:
#if (defined(__unix__) || defined(__APPLE__)) && !defined(__EMSCRIPTEN__)
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        for (int fault : {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGABRT, SIGTRAP}) {
            sigdelset(&all, fault);
        }
        pthread_sigmask(SIG_BLOCK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
#else
    SignalsBlocked() {}
    ~SignalsBlocked() {}
#endif
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  private:
#if (defined(__unix__) || defined(__APPLE__)) && !defined(__EMSCRIPTEN__)
    sigset_t before_;
#endif
};

}  // namespace sardonyx
