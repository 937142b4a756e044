#include "api/limits.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "api/value_handle.h"

namespace sardonyx::api {

eval::RunOptions engine_options(const sdx_run_options* options) {
    eval::RunOptions chosen;
    if (options != nullptr) {
        chosen.seed = options->seed;
        chosen.max_steps =
            options->max_steps == 0 ? INT64_MAX : std::max<int64_t>(0, options->max_steps);
        chosen.threads = options->threads > 0 ? options->threads : 0;
    }
    return chosen;
}

Result<void> set_limits(const sdx_limits* limits, eval::Interrupt* interrupt) {
    if (limits == nullptr) {
        return {};
    }
    if (std::isnan(limits->timeout)) {
        return Error{"the timeout is not a number"};
    }
    if (limits->timeout != 0) {
        interrupt->set_timeout(limits->timeout);
    }
    if (limits->token != nullptr) {
        if (!is_valid(limits->token)) {
            return Error{"the token is not a cancel token"};
        }
        interrupt->set_token(&limits->token->is_cancelled);
    }
    return {};
}

sdx_error* error_of(const Error& error, const eval::Interrupt& interrupt) {
    using Reason = eval::Interrupt::Reason;
    Reason reason = interrupt.reason();
    return make_error(error.message, reason == Reason::kCancelled ? SDX_CANCELLED
                                     : reason == Reason::kLate    ? SDX_TIMED_OUT
                                                                  : SDX_NOT_ENDED);
}

sdx_error* give_values(std::vector<eval::RuntimeValue> results, sdx_value** outputs,
                       size_t output_count) {
    std::vector<std::unique_ptr<sdx_value>> made;
    for (size_t i = 0; i < output_count; ++i) {
        made.push_back(std::make_unique<sdx_value>());
        made.back()->value = std::move(results[i]);
    }
    for (size_t i = 0; i < output_count; ++i) {
        outputs[i] = made[i].release();
    }
    return nullptr;
}

}  // namespace sardonyx::api
