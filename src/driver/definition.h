// A function that a program has defined already, as in Python: its text is looked for in the file
// that it comes from, and checked before anything is compiled.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "elaborate/files/definitions.h"

namespace sardonyx::driver {

struct Definition {
    std::shared_ptr<syntax::Tree> tree;
    const syntax::FunctionDefStmt* function = nullptr;  // null: there are errors, or no such lambda
    diagnostics::Span whole;                            // its text, decorators included
    std::string name;                                   // `lambda` of one
};

// Whether a lambda with this text is the one that is meant.
using IsLambda = std::function<bool(std::string_view text)>;

// Reads the function of this name whose statement begins on a line, from 1; a lambda, which is
// called `<lambda>`, only where `is_lambda` tells which one. What is wrong with its syntax is told
// to the program. Error: the file has no such function there any more.
Result<Definition> read_definition(elaborate::Program& program, diagnostics::FileId file,
                                   uint32_t line, std::string_view name,
                                   const IsLambda& is_lambda = {});

// Whether a function of this file is a part of a program, so that scripts of `script_path` may call
// it and have its body: its file lies in the folder of theirs, or below it.
bool is_of_program(const std::string& path, const std::string& script_path);

// Tells the program the errors that are certain before the script is compiled. Drops what comments
// silence, among what was told of its syntax too.
void check_definition(elaborate::Program& program, const elaborate::ScriptFunction& script,
                      const ops::SchemaSet* schemas, const elaborate::OpsetOfName& opset_of);

}  // namespace sardonyx::driver
