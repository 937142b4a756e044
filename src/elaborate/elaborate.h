// The phase: a script's tree and an environment in, ir out. Mistakes become diagnostics in the
// Program; a model is returned all the same, and is whole when no error has been reported.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "elaborate/objects/program.h"
#include "ir/ir.h"

namespace sardonyx::elaborate {

// Reads a file and finds its scripts. A file that cannot be read is a diagnostic; then null.
FileModule* load_file(Program& program, const std::string& path);
// The same for text that is at hand; `path` is for messages and for imports beside it.
FileModule* load_text(Program& program, const std::string& path, std::string text);
// The scripts of a file in the order of their definitions.
std::vector<std::shared_ptr<ScriptFunction>> scripts(FileModule& module);
// The script that the name stands for when the file has run; null: none. Where that is not known,
// the reason is reported.
std::shared_ptr<ScriptFunction> find_script(FileModule& module, std::string_view name);

// Whether the script is meant as a model: each input has a type, each attribute parameter a value.
// Reads its annotations and defaults alone, and reports nothing.
bool is_model(Program& program, const ScriptFunction& function, const Options& options);
// The script as a model: attribute parameters take their values or defaults, inputs need types.
std::unique_ptr<ir::Model> compile_model(Program& program, const ScriptFunction& function,
                                         const Options& options);
// The script as functions()[0] of a model without a main graph; the functions it calls follow.
std::unique_ptr<ir::Model> compile_function(Program& program, const ScriptFunction& function,
                                            const Options& options);
// Reports what is wrong with a script that runs in place, whatever it is called with: of parameters
// without the type of a tensor nothing is known, and what is made of them is not looked at.
void check_in_place(Program& program, const ScriptFunction& function, const Options& options);

}  // namespace sardonyx::elaborate
