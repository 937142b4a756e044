// What the lints of a file share. For the files of this folder.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "elaborate/files/module.h"

namespace sardonyx::lint {

struct File {
    elaborate::Program& program;
    elaborate::Environment& environment;  // what its names mean
    std::string_view path;
    const syntax::Tree& tree;
    std::vector<const syntax::FunctionDefStmt*> scripts;  // at the top of the file, in order

    std::string_view text(Symbol symbol) const { return tree.names.text(symbol); }
    std::string_view source(syntax::Range range) const {
        return program.sources.text(tree.file).substr(range.begin, range.end - range.begin);
    }
    diagnostics::Diagnostic& report(const diagnostics::Kind& kind, syntax::Range range,
                                    std::string message) const {
        return program.diagnostics.report(kind, tree.span(range), std::move(message));
    }
};

void find_unused_imports(const File& file);
void find_unused_values(const File& file, const syntax::FunctionDefStmt* script);
void find_shadowed_scripts(const File& file);

}  // namespace sardonyx::lint
