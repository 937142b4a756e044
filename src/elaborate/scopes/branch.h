// One way through tensor-valued control flow: a subgraph, and what it left in the scope.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "elaborate/objects/context.h"
#include "elaborate/scopes/cells.h"

namespace sardonyx::elaborate {

// Symbols from here on are pseudo-variables: those of jumps.
inline constexpr uint32_t kFirstFlag = kBehindCells;

inline bool is_flag(Symbol name) {
    return name.index >= kFirstFlag;
}

inline constexpr std::string_view kBranchGraph = "branch";

struct Branch {
    ir::Graph* graph = nullptr;
    Jump jump = Jump::kNone;
    syntax::Stmts statements;                        // of an `if`
    std::vector<ir::Value*> held;                    // optional values that are there in it
    std::vector<std::pair<Symbol, Object>> changes;  // in the order of first change
    Object result;
    syntax::Range result_range;
    bool returned = false;  // by a flag: what its names are worth is of no interest

    // The value of a name at the end of the branch; error: it has none.
    Object value_of(const Context& c, Symbol name) const;
    void set(Symbol name, Object value);
};

// Whether anything holds a list or dict but the name, in the branches and before them.
bool is_held_elsewhere(const Context& c, const Object& object, Symbol name,
                       std::initializer_list<const Branch*> branches);

// Runs `body` into a subgraph and puts the scope back as it was.
template <typename Body>
Branch run_branch(Context& c, Body&& body) {
    Branch branch;
    ir::Graph* outer = c.graph;
    branch.graph = c.model.make_graph(outer);
    branch.graph->name = kBranchGraph;
    c.graph = branch.graph;
    JoinedGraph joined(c, branch.graph);
    size_t mark = c.at.scope->open();
    branch.jump = body();
    for (Symbol name : c.at.scope->changed(mark)) {
        branch.changes.emplace_back(name, *c.at.scope->find(name));
    }
    for (Symbol cell : joined.changed()) {
        if (!own_name(c, cell).valid()) {
            branch.changes.emplace_back(cell, *find_value(c, cell));
        }
    }
    branch.result = c.at.result;
    branch.result_range = c.at.result_range;
    c.at.scope->undo(mark);
    c.at.result = Object::error();
    c.graph = outer;
    return branch;
}

}  // namespace sardonyx::elaborate
