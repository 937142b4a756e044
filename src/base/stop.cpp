#include "base/stop.h"

#include <utility>

namespace sardonyx {
namespace {

// Of each thread: work that ends belongs to the call of the surface that is made there.
thread_local constinit StopScope::Question current_question = nullptr;
thread_local constinit void* current_data = nullptr;

}  // namespace

StopScope::StopScope(Question should_stop, void* data)
    : before_(std::exchange(current_question, should_stop)),
      data_before_(std::exchange(current_data, data)) {}

StopScope::~StopScope() {
    current_question = before_;
    current_data = data_before_;
}

bool should_stop() {
    return current_question != nullptr && current_question(current_data);
}

void stop_point() {
    if (should_stop()) [[unlikely]] {
        throw Stopped();
    }
}

}  // namespace sardonyx
