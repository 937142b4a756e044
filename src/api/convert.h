// Between the plain data of the public interface and the engine's.
#pragma once

#include <sardonyx/array.h>
#include <sardonyx/diagnostic.h>

#include <string>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "eval/eval.h"

namespace sardonyx::api {

// `name` is for errors. Throw the public Error for arrays that contradict themselves.
eval::RuntimeValue to_engine(const std::string& name, const Value& value);
Value from_engine(const std::string& name, const eval::RuntimeValue& value);

std::vector<Diagnostic> from_engine(const diagnostics::Sources& sources,
                                    const diagnostics::Diagnostics& diagnostics);

}  // namespace sardonyx::api
