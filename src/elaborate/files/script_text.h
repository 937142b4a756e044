// What the text of a file says of its scripts, whether or not the file can be run.
#pragma once

#include <string_view>

#include "syntax/tree.h"

namespace sardonyx::elaborate {

// Whether the source imports sardonyx or onnxscript. A NUL byte must stand behind it.
bool imports_scripts(std::string_view source);

// `root` or `root.member`, called or not; a decorator of another form has no root.
struct DecoratorName {
    Symbol root, member;
};

DecoratorName decorator_name(const syntax::Expr* decorator);

// Whether the function has the decorator of scripts: `@script`, `@script(...)`,
// `@onnxscript.script(...)`. `@torch.jit.script` is another one.
bool has_script_decorator(const syntax::Tree& tree, const syntax::FunctionDefStmt* definition);

// Whether a function of the file has it, those in functions, classes and branches as well.
bool writes_scripts(const syntax::Tree& tree);

}  // namespace sardonyx::elaborate
