// Options and limits of a run, and its results, between the C interface and the engine.
#pragma once

#include <vector>

#include "api/handles.h"
#include "base/result.h"
#include "eval/eval.h"
#include "eval/runtime/interrupt.h"

namespace sardonyx::api {

eval::RunOptions engine_options(const sdx_run_options* options);
// Error: the timeout or the token is none. `limits` may be null.
Result<void> set_limits(const sdx_limits* limits, eval::Interrupt* interrupt);
// Of a run that has failed, or that its limits have ended.
sdx_error* error_of(const Error& error, const eval::Interrupt& interrupt);
// The first results as new values; null.
sdx_error* give_values(std::vector<eval::RuntimeValue> results, sdx_value** outputs,
                       size_t output_count);

}  // namespace sardonyx::api
