// The phase: a file that has been compiled in, warnings about what is legal and probably not meant
// out. And the comments that silence warnings, those of the phases before as well.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "elaborate/files/module.h"

namespace sardonyx::lint {

// Files that import neither sardonyx nor onnxscript, and those with syntax errors, have no lints.
void lint_file(elaborate::Program& program, elaborate::FileModule& module);

// The same for one script, of which the file is not at hand as a whole.
void lint_script(elaborate::Program& program, const elaborate::ScriptFunction& script);

// Forgets the warnings and notes that `# sardonyx: ignore` comments of these files silence, and
// reports the comments that silence nothing. After everything else has been said.
void apply_ignores(elaborate::Program& program, std::span<elaborate::FileModule* const> modules);

// The kinds of all phases that look at scripts, sorted by code.
std::vector<const diagnostics::Kind*> kinds();

}  // namespace sardonyx::lint
