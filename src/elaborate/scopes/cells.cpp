// Members of instances, and names of functions around, that branches and loops of the graph change.
#include "elaborate/scopes/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "elaborate/objects/changes.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/unknowns.h"

namespace sardonyx::elaborate {

struct MemberCells {
    struct Cell {
        Object instance;               // error: a name of `scope`
        std::string text;              // the name of the member, or that name
        std::shared_ptr<Scope> scope;  // of a function around
        Symbol name;
    };
    struct Change {
        size_t cell;
        std::optional<Object> before;
    };
    std::deque<Cell> cells;  // by pseudo-variable
    std::vector<Change> log;
    std::vector<const ir::Graph*> open;  // branches and bodies of loops that are being run
};

namespace {

using Cell = MemberCells::Cell;

const Cell& cell_of(const Context& c, Symbol name) {
    return c.cells->cells[name.index - kFirstCell];
}

const Object* find_in(const Cell& cell) {
    return cell.scope != nullptr ? cell.scope->find(cell.name)
                                 : as_namespace(cell.instance)->find_own(cell.text);
}

void put(const Cell& cell, const std::optional<Object>& value) {
    if (cell.scope != nullptr) {
        cell.scope->set(cell.name, value ? *value : Object::error());
    } else if (value) {
        as_namespace(cell.instance)->set(cell.text, *value);
    } else {
        as_namespace(cell.instance)->remove(cell.text);
    }
}

std::optional<Object> value_in(const Cell& cell) {
    const Object* found = find_in(cell);
    return found != nullptr ? std::optional(*found) : std::nullopt;
}

// The number of the cell of a place.
size_t cell_at(Context& c, const Cell& place) {
    std::deque<Cell>& cells = c.cells->cells;
    auto is_it = [&place](const Cell& one) {
        return one.scope == place.scope && one.instance.pointer() == place.instance.pointer() &&
               one.text == place.text;
    };
    auto found = std::find_if(cells.begin(), cells.end(), is_it);
    if (found == cells.end()) {
        cells.push_back(place);
        return cells.size() - 1;
    }
    return static_cast<size_t>(found - cells.begin());
}

void change_cell(Context& c, size_t index, Object value) {
    const Cell& cell = c.cells->cells[index];
    std::optional<Object> before = value_in(cell);
    if (!c.cells->open.empty()) {
        c.cells->log.push_back({index, before});
    }
    log_change(c, cell.instance, [&cell, before](const Object&) { put(cell, before); });
    put(cell, std::move(value));
}

// The graph that a cell's instance was made in, or that its function runs in.
const ir::Graph* home_of(const Context& c, const Cell& cell) {
    return cell.scope != nullptr ? cell.scope->home : owner_of(c, cell.instance);
}

bool is_inside(const ir::Graph* graph, const ir::Graph* around) {
    while (graph != nullptr && graph != around) {
        graph = graph->parent();
    }
    return graph != nullptr;
}

}  // namespace

const Object* find_value(const Context& c, Symbol name) {
    return is_cell(name) ? find_in(cell_of(c, name)) : c.at.scope->find(name);
}

void set_value(Context& c, Symbol name, Object value) {
    if (is_cell(name)) {
        change_cell(c, name.index - kFirstCell, std::move(value));
    } else {
        c.at.scope->set(name, std::move(value));
    }
}

std::string_view cell_text(const Context& c, Symbol cell) {
    return cell_of(c, cell).text;
}

bool is_joined(const Context& c, const ir::Graph* home) {
    const std::vector<const ir::Graph*>& open = c.cells->open;
    const ir::Graph* graph = c.graph;
    while (graph != nullptr && graph != home &&
           std::find(open.begin(), open.end(), graph) != open.end()) {
        graph = graph->parent();
    }
    return graph == home && home != nullptr;
}

void change_member(Context& c, Namespace& own, std::string_view name, Object value, bool is_cell) {
    if (is_cell) {
        change_cell(c, cell_at(c, {own.object(), std::string(name), nullptr, {}}),
                    std::move(value));
        return;
    }
    std::optional<Object> before = own.has_own(name) ? own.lookup(name) : std::nullopt;
    log_change(c, own.object(), [&own, before, text = std::string(name)](const Object&) {
        if (before) {
            own.set(text, *before);
        } else {
            own.remove(text);
        }
    });
    own.set(name, std::move(value));
}

void change_outer_name(Context& c, const std::shared_ptr<Scope>& scope, Symbol name, Object value) {
    Cell place{Object::error(), std::string(scope->function->tree->names.text(name)), scope, name};
    change_cell(c, cell_at(c, place), std::move(value));
}

JoinedGraph::JoinedGraph(Context& c, const ir::Graph* graph)
    : c_(c), graph_(graph), mark_(c.cells->log.size()) {
    c.cells->open.push_back(graph);
}

std::vector<Symbol> JoinedGraph::changed() const {
    std::vector<Symbol> names;
    const MemberCells& cells = *c_.cells;
    for (size_t i = mark_; i < cells.log.size(); ++i) {
        Symbol name{kFirstCell + static_cast<uint32_t>(cells.log[i].cell)};
        bool is_seen = std::find(names.begin(), names.end(), name) != names.end();
        if (!is_seen && !is_inside(home_of(c_, cells.cells[cells.log[i].cell]), graph_)) {
            names.push_back(name);
        }
    }
    return names;
}

JoinedGraph::~JoinedGraph() {
    MemberCells& cells = *c_.cells;
    while (cells.log.size() > mark_) {
        put(cells.cells[cells.log.back().cell], cells.log.back().before);
        cells.log.pop_back();
    }
    cells.open.pop_back();
}

Symbol own_name(const Context& c, Symbol cell) {
    const Cell& place = cell_of(c, cell);
    return place.scope == c.at.scope ? place.name : Symbol();
}

bool fits_cell(const Object& value) {
    bool is_tuple = value.is(ObjectKind::kTuple);
    return is_tuple ? std::all_of(value.items().begin(), value.items().end(), fits_cell)
                    : !value.is(ObjectKind::kList) && !value.is(ObjectKind::kDict) &&
                          !value.is(ObjectKind::kSet) && !value.is(ObjectKind::kIterator);
}

void refuse_cell(Context& c, Symbol cell, std::string_view reason, syntax::Range range) {
    const Cell& place = cell_of(c, cell);
    std::string what = place.scope != nullptr
                           ? fmt::format("`{}` of the function around", place.text)
                           : fmt::format("the member `{}` of `{}`", place.text,
                                         as_namespace(place.instance)->name);
    c.report(kBranchTypeMismatch, range, fmt::format("{} {}", what, reason))
        .with_help("give it a tensor or number of one type before and in the branch or loop");
    put(place, Object::error());  // nothing more is said of it
}

}  // namespace sardonyx::elaborate
