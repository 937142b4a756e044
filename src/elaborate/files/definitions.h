// What is wrong with a script whatever its arguments are: calls of operators that no type, no name
// that is defined later and no option puts right. Said where the script is defined, by its text
// alone; nothing of it is run.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "elaborate/elaborate.h"

namespace sardonyx::elaborate {

// A call `op.Name(...)` that is certainly wrong.
struct MistakenCall {
    const syntax::CallExpr* call;
    OpsetObject opset;
};

// The opset that a name outside the function means; nothing: it means something else, or nothing
// yet.
using OpsetOfName = std::function<std::optional<OpsetObject>(std::string_view)>;

// The mistaken calls in what is computed in every case: not what a branch, a loop, a handler or a
// nested function holds, nor what follows a statement that may leave the function.
std::vector<MistakenCall> mistaken_calls(const ScriptFunction& function,
                                         const ops::SchemaSet* schemas,
                                         const OpsetOfName& opset_of);

// Reports them in the words of the compilation. Sources for onnxscript are left to that.
void report_mistaken_calls(Program& program, const ScriptFunction& function, const Options& options,
                           const std::vector<MistakenCall>& calls);

}  // namespace sardonyx::elaborate
