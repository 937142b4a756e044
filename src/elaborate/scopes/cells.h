// Places that a call may change which the text of a block does not show: members of instances that
// the script has made, items of lists and dicts, and names of the functions around (`nonlocal`).
//
// Branches and loops of the graph join and carry them as they do with names of their own scope: a
// place that is changed in one of them has a pseudo-variable, its *cell*. An instance, list or dict
// stays one object, so all names for it see what a branch or loop has left in it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "elaborate/objects/context.h"
#include "elaborate/objects/namespaces.h"

namespace sardonyx::elaborate {

// Pseudo-variables of cells; those of jumps are behind them (branch.h).
inline constexpr uint32_t kFirstCell = 0xE0000000, kBehindCells = 0xF0000000;

inline bool is_cell(Symbol name) {
    return name.index >= kFirstCell && name.index < kBehindCells;
}

// What a name of the current scope or a cell holds; null: nothing.
const Object* find_value(const Context& c, Symbol name);
void set_value(Context& c, Symbol name, Object value);

// The name of the member, or of the function around; of an item its key, or a word for it.
std::string_view cell_text(const Context& c, Symbol cell);

// The instance, list or dict that the cell is a part of; else the error object.
Object owner_of_cell(const Context& c, Symbol cell);

// Whether the graph between here and `home` consists of branches and loops alone, which join what
// is changed in them. A body that an operator is given is something else.
bool is_joined(const Context& c, const ir::Graph* home);

// Changes a member; `is_cell`: in a branch or loop inside of the graph that the instance is of.
void change_member(Context& c, Namespace& own, std::string_view name, Object value, bool is_cell);

// The same for a member that holds a list which grows there: it may have another length in the
// other branch, or after an iteration.
void grow_member(Context& c, Namespace& own, std::string_view name, Object list);
bool grows(const Context& c, Symbol cell);

// Whether items of a list or dict of the script are cells here: it is from outside of the branches
// and loops that run.
bool has_cells(const Context& c, const Object& container);

// Changes an item of such a list, which has that many, or of a dict.
void change_item(Context& c, const Object& container, const Object& key, Object value);

// Changes a name of a function around.
void change_outer_name(Context& c, const std::shared_ptr<Scope>& scope, Symbol name, Object value);

// A branch or the body of a loop while it runs. At its end everything is as it was.
class JoinedGraph {
  public:
    JoinedGraph(Context& c, const ir::Graph* graph);
    ~JoinedGraph();
    JoinedGraph(const JoinedGraph&) = delete;
    JoinedGraph& operator=(const JoinedGraph&) = delete;

    // The cells that it has changed, each once, in the order of their first change: but for
    // what was made in it.
    std::vector<Symbol> changed() const;

  private:
    Context& c_;
    const ir::Graph* graph_;
    size_t mark_;
};

// The cell as a name of the current scope, which it is the place of; else not valid.
Symbol own_name(const Context& c, Symbol cell);

// Whether a value can be joined with another, or carried by a loop, in a cell: lists and dicts have
// names, by which they are found.
bool fits_cell(const Object& value);

// Says that a cell has no value behind a branch or loop.
void refuse_cell(Context& c, Symbol cell, std::string_view reason, syntax::Range range);

}  // namespace sardonyx::elaborate
