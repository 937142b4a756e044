// The phase: source text in, tree out. It never fails: mistakes become diagnostics and error nodes.
#pragma once

#include "diagnostics/diagnostic.h"
#include "syntax/tree.h"

namespace sardonyx::syntax {

// Limits on hostile input; beyond them there is a diagnostic, not a crash.
struct Limits {
    uint32_t nesting = 260;             // of expressions, and of blocks
    uint32_t height = 1000;             // of a tree: `a.b.c ...` and `elif` chains count too
    uint32_t terms = 10'000;            // of `a + b + c ...`: walks go through them in a loop
    uint32_t bytes = 64 * 1024 * 1024;  // of a source file
};

// Parses a whole file.
Tree parse(const diagnostics::Sources& sources, diagnostics::FileId file,
           diagnostics::Diagnostics& diagnostics, const Limits& limits = {});

// Parses one statement, with its decorators, that begins at byte `begin` (the start of a line; the
// line may be indented, as a function inside a function is); what follows it is not looked at. For
// Python, which knows the line at which a function starts.
Tree parse_statement(const diagnostics::Sources& sources, diagnostics::FileId file, uint32_t begin,
                     diagnostics::Diagnostics& diagnostics, const Limits& limits = {});

// The same into a tree of the file that there is, whose body stays as it is. Null where nothing
// stands there. For files of which few statements are needed.
const Stmt* add_statement(Tree& tree, const diagnostics::Sources& sources, uint32_t begin,
                          diagnostics::Diagnostics& diagnostics, const Limits& limits = {});

// Parses `text` as one expression for a string annotation: "FLOAT['N']". Positions are those of
// `at`, the string literal in the file. The nodes go into `tree`, which owns them.
const Expr* parse_annotation(Tree& tree, std::string_view text, Range at,
                             diagnostics::Diagnostics& diagnostics, const Limits& limits = {});

}  // namespace sardonyx::syntax
