// Functions of the files of the library of PyTorch's operators: they are parsed and defined when
// their names are asked for, since a program needs few of them.
#include <algorithm>
#include <span>
#include <vector>

#include "elaborate/files/module.h"
#include "elaborate/objects/context.h"
#include "syntax/parse.h"
#include "torch/library.h"

namespace sardonyx::elaborate {

void FileModule::defer_functions() {
    std::vector<const syntax::Stmt*> others;
    for (const torch::StatementRow& row : torch::library_statements(path_)) {
        if (!row.function.empty()) {
            Symbol name = tree_.names.intern(row.function);
            deferred_.emplace(name.index, row.begin);
            symbols_.emplace(tree_.names.text(name), name);
        } else if (const syntax::Stmt* statement = syntax::add_statement(
                       tree_, program_.sources, row.begin, program_.diagnostics)) {
            others.push_back(statement);
        }
    }
    tree_.body = tree_.arena.copy(std::span<const syntax::Stmt* const>(others));
}

void FileModule::run_deferred(Symbol name) {
    auto found = name.valid() ? deferred_.find(name.index) : deferred_.end();
    if (found == deferred_.end()) {
        return;
    }
    const syntax::Stmt* statement =
        syntax::add_statement(tree_, program_.sources, found->second, program_.diagnostics);
    deferred_.erase(found);
    run_at_top([&](Context& c) { run_block(c, syntax::Stmts(&statement, 1)); });
}

void FileModule::define_all() {
    if (!is_of_library_) {
        return;
    }
    std::vector<uint32_t> names;  // in the order of the text
    for (const auto& [name, begin] : deferred_) {
        names.push_back(name);
    }
    for (const auto& [name, import] : pending_) {
        names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    for (uint32_t name : names) {
        (void)lookup_symbol(Symbol{name}, tree_.names.text(Symbol{name}));
    }
}

}  // namespace sardonyx::elaborate
