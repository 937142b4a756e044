// The threads of parallel.cpp beside those that call.
#pragma once

namespace sardonyx::eval {

// Whether the calling thread is one of those that help the threads that run. No signal is handled
// there.
bool is_helper_thread();

}  // namespace sardonyx::eval
