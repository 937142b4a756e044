// Members of instances, items of lists and dicts, and names of functions around, that branches and
// loops of the graph change.
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
        std::string text;               // the name of a member or of `scope`; of an item a word
        Namespace* instance = nullptr;  // of a member
        std::shared_ptr<Scope> scope;   // of a function around
        Symbol name;                    // in it
        ObjectKind kind = ObjectKind::kError;
        std::weak_ptr<void> container;  // a list or dict of this kind: it is no holder of it
        Object key;                     // of an item of that
        bool grows = false;             // a member that holds a list
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

// The list or dict of an item; the error object: nothing holds it any more, or there is none.
Object container_in(const Cell& cell) {
    std::shared_ptr<void> held = cell.container.lock();
    return held != nullptr ? Object::from_pointer(cell.kind, std::move(held)) : Object::error();
}

const Object* find_item(const Cell& cell) {
    Object container = container_in(cell);
    if (container.is(ObjectKind::kDict)) {
        return container.get<DictObject>().find(cell.key);
    }
    bool is_there = container.is(ObjectKind::kList) &&
                    cell.key.as_int() < static_cast<int64_t>(container.items().size());
    return is_there ? &container.items()[static_cast<size_t>(cell.key.as_int())] : nullptr;
}

const Object* find_in(const Cell& cell) {
    return cell.scope != nullptr  ? cell.scope->find(cell.name)
           : !cell.key.is_error() ? find_item(cell)
                                  : cell.instance->find_own(cell.text);
}

void put_item(const Cell& cell, const std::optional<Object>& value) {
    const Object* found = find_item(cell);
    if (value && found != nullptr) {
        *const_cast<Object*>(found) = *value;
    } else if (Object container = container_in(cell); !container.is(ObjectKind::kDict)) {
        return;
    } else if (value) {
        container.get<DictObject>().set(cell.key, *value);
    } else if (found != nullptr) {
        auto& items = container.get<DictObject>().items;
        items.erase(std::find_if(items.begin(), items.end(), [&cell](const auto& one) {
            return same_key(one.first, cell.key);
        }));
    }
}

void put(const Cell& cell, const std::optional<Object>& value) {
    if (cell.scope != nullptr) {
        cell.scope->set(cell.name, value ? *value : Object::error());
    } else if (!cell.key.is_error()) {
        put_item(cell, value);
    } else if (value) {
        cell.instance->set(cell.text, *value);
    } else {
        cell.instance->remove(cell.text);
    }
}

std::optional<Object> value_in(const Cell& cell) {
    const Object* found = find_in(cell);
    return found != nullptr ? std::optional(*found) : std::nullopt;
}

Cell member_cell(Namespace& own, std::string_view name) {
    return Cell{std::string(name), &own};
}

// The number of the cell of a place.
size_t cell_at(Context& c, const Cell& place) {
    std::deque<Cell>& cells = c.cells->cells;
    auto is_it = [&place](const Cell& one) {
        bool is_key = one.key.is_error() == place.key.is_error() &&
                      (one.key.is_error() || same_key(one.key, place.key));
        bool is_container = !one.container.owner_before(place.container) &&
                            !place.container.owner_before(one.container);
        return one.scope == place.scope && one.instance == place.instance && is_container &&
               one.text == place.text && is_key;
    };
    auto found = std::find_if(cells.begin(), cells.end(), is_it);
    if (found == cells.end()) {
        cells.push_back(place);
        return cells.size() - 1;
    }
    return static_cast<size_t>(found - cells.begin());
}

// The object that a change of the cell changes.
Object owner_in(const Cell& cell) {
    return cell.instance != nullptr ? cell.instance->object() : container_in(cell);
}

void change_cell(Context& c, size_t index, Object value) {
    const Cell& cell = c.cells->cells[index];
    std::optional<Object> before = value_in(cell);
    if (!c.cells->open.empty()) {
        c.cells->log.push_back({index, before});
    }
    log_change(c, owner_in(cell), [&cell, before](const Object&) { put(cell, before); });
    put(cell, std::move(value));
}

// The graph that a cell's owner was made in, or that its function runs in.
const ir::Graph* home_of(const Context& c, const Cell& cell) {
    return cell.scope != nullptr ? cell.scope->home : owner_of(c, owner_in(cell));
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

Object owner_of_cell(const Context& c, Symbol cell) {
    return owner_in(cell_of(c, cell));
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
        change_cell(c, cell_at(c, member_cell(own, name)), std::move(value));
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

void grow_member(Context& c, Namespace& own, std::string_view name, Object list) {
    size_t cell = cell_at(c, member_cell(own, name));
    c.cells->cells[cell].grows = true;
    change_cell(c, cell, std::move(list));
}

bool grows(const Context& c, Symbol cell) {
    return cell_of(c, cell).grows;
}

bool has_cells(const Context& c, const Object& container) {
    return !c.runs_file && (container.is(ObjectKind::kList) || container.is(ObjectKind::kDict)) &&
           !is_owned(c, container) && is_joined(c, owner_of(c, container));
}

void change_item(Context& c, const Object& container, const Object& key, Object value) {
    Cell place{key.is(ObjectKind::kString) ? key.text() : std::string("item")};
    place.kind = container.kind();
    place.container = container.pointer();
    place.key = key;
    change_cell(c, cell_at(c, place), std::move(value));
}

void change_outer_name(Context& c, const std::shared_ptr<Scope>& scope, Symbol name, Object value) {
    Cell place{std::string(scope->function->tree->names.text(name)), nullptr, scope, name};
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
        if (!is_seen && find_value(c_, name) != nullptr &&
            !is_inside(home_of(c_, cells.cells[cells.log[i].cell]), graph_)) {
            names.push_back(name);
        }
    }
    return names;
}

JoinedGraph::~JoinedGraph() {
    MemberCells& cells = *c_.cells;
    while (cells.log.size() > mark_) {
        const Cell& cell = cells.cells[cells.log.back().cell];
        // What was made in here leaves it as it is: no other branch knows of it. The scope that it
        // runs in has put back its names, which statements assign, too.
        if (cell.scope != c_.at.scope && !is_inside(home_of(c_, cell), graph_)) {
            put(cell, cells.log.back().before);
        }
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
    std::string what =
        place.scope != nullptr ? fmt::format("`{}` of the function around", place.text)
        : !place.key.is_error()
            ? fmt::format("the item {} of a {}", repr(place.key),
                          place.kind == ObjectKind::kDict ? "dict" : "list")
            : fmt::format("the member `{}` of `{}`", place.text, place.instance->name);
    c.report(kBranchTypeMismatch, range, fmt::format("{} {}", what, reason))
        .with_help("give it a tensor or number of one type before and in the branch or loop");
    // Nothing more is said of it, unless the finding is taken back, too.
    log_change(c, owner_in(place),
               [&place, before = value_in(place)](const Object&) { put(place, before); });
    put(place, Object::error());
}

}  // namespace sardonyx::elaborate
