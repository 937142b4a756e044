// The functions of the model that scripts become.
#pragma once

#include <string>
#include <vector>

#include "elaborate/facts.h"
#include "elaborate/objects/context.h"
#include "elaborate/script_memory.h"
#include "elaborate/signature.h"

namespace sardonyx::elaborate {

// The function for these facts, built unless there is one already. Its `function` is null when the
// body does not compile for them; the mistakes are then in it, and not reported.
Specialisation build_function(Context& c, const ScriptFunction& function, syntax::Range call_range,
                              const std::vector<Fact>& facts, Detail detail,
                              const std::string& key);

void report_again(Context& c, const std::vector<diagnostics::Diagnostic>& findings);

// The facts of all possible calls: what the annotations say.
std::vector<Fact> annotated_facts(const std::vector<BoundParameter>& parameters);

// Builds the functions that `function` needs through long chains of calls, from their far end: one
// that is built where it is called for the first time is built inside of its caller's building.
void build_far_callees(Context& c, const ScriptFunction& function);

// Takes out the functions that nothing calls, but for the roots.
void remove_unused_functions(ir::Model& model, const ir::Function* root);

// Takes back what has been reported from `said` on; each finding once.
std::vector<diagnostics::Diagnostic> take_findings(diagnostics::Checkpoint said);

}  // namespace sardonyx::elaborate
