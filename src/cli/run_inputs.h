// The inputs of a run, and a script that is compiled for them.
//
// A script is compiled twice when its annotations leave sizes or types open: first to learn what
// its inputs are, then with the types of the given values, so that everything static is known.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/commands.h"
#include "driver/driver.h"
#include "eval/runtime/value.h"
#include "ir/ir.h"

namespace sardonyx::cli {

// The names are those of the graph.
using NamedValues = std::vector<std::pair<std::string_view, eval::RuntimeValue>>;

// The values of the inputs that are given, and of those that --random stands for.
Result<NamedValues> read_inputs(const ir::Graph& graph, const InputOptions& options);

struct ScriptRun {
    driver::Compilation compiled;
    std::unique_ptr<ir::Model> open;  // the first model, whose texts name the values; may be null
    NamedValues values;
    int status = kFailure;  // else than kSuccess: what is wrong has been printed
};
ScriptRun prepare_script(driver::Request& request, const InputOptions& options);

}  // namespace sardonyx::cli
