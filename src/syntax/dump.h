// Tokens and trees as text, for `sardonyx dump` and for tests.
#pragma once

#include <string>

#include "syntax/parse.h"

namespace sardonyx::syntax {

// One token a line: its range, its kind and its source.
std::string dump_tokens(const diagnostics::Sources& sources, diagnostics::FileId file,
                        const Limits& limits = {});

struct DumpOptions {
    bool ranges = false;  // @begin-end, in bytes, behind the kind of each node
};

// One statement a line, blocks indented by two; expressions as (Kind field...), where `-` stands
// for a part that is not there.
std::string dump_tree(const Tree& tree, const DumpOptions& options = {});
std::string dump_statement(const Tree& tree, const Stmt* statement, const DumpOptions& options);
std::string dump_expression(const Tree& tree, const Expr* expression, const DumpOptions& options);

}  // namespace sardonyx::syntax
