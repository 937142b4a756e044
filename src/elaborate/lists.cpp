#include "elaborate/lists.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "elaborate/emit/sequences.h"
#include "elaborate/expressions.h"
#include "elaborate/flow/grown_names.h"
#include "elaborate/library/classes.h"
#include "elaborate/library/methods.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/owners.h"
#include "elaborate/scopes/aliases.h"
#include "elaborate/scopes/branch.h"
#include "elaborate/scopes/cells.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::Range;

namespace {

// Binds the name to its longer list, which is the same list for whoever else holds it.
void bind_grown(Context& c, const syntax::NameExpr* name, const Object& before, const Object& grown,
                Range range) {
    Object after = grown.is_error() ? Object::make(ObjectKind::kUnbound, Unbound{}) : grown;
    std::vector<CallerName> callers;
    std::optional<std::string> other =
        other_holder(c, before.value(), name->name, Changed::kList, range.end, callers);
    if (other && !grown.is_error()) {
        std::string target(c.text(name->name));
        c.report(kAliasedItemAssignment, range,
                 fmt::format("`{}` may be the same list as `{}`, which Python would change too",
                             *other, target))
            .with_help(fmt::format("make a new list: `{0} = {0} + [...]`", target));
        after = Object::make(ObjectKind::kUnbound, Unbound{});
    }
    if (!grown.is_error() && !other && !is_certain_to_change(c, before, range)) {
        after = Object::make(ObjectKind::kUnbound, Unbound{});
    }
    for (const CallerName& one : callers) {
        one.scope->set(one.name, after);
    }
    c.at.scope->set(name->name, after);
}

// The list that append(), or extend(), makes of one of the graph.
Object made_longer(Context& c, const Object& list, const Expr* argument, bool extends,
                   Range range) {
    Object value = eval(c, argument);
    return value.is_error() ? Object::error()
           : extends        ? insert_items(c, list, value, range)
                            : insert_item(c, list, value, range);
}

// The instance whose member a call makes longer, where asking for it has no effects: null, it is
// something else.
Namespace* grown_instance(Context& c, const syntax::AttributeExpr* place) {
    const auto* name =
        place != nullptr ? syntax::maybe_as<syntax::NameExpr>(place->value) : nullptr;
    const Object* found = name != nullptr ? c.at.scope->find(name->name) : nullptr;
    Namespace* own = found != nullptr ? as_namespace(*found) : nullptr;
    return own != nullptr && own->kind == Namespace::Kind::kInstance && place->name.valid()
               ? own
               : nullptr;
}

// Gives the member its longer list, which is the same list for whoever else holds it.
void set_grown_member(Context& c, Namespace& own, std::string_view name, const Object& before,
                      Object grown, Range range) {
    if (!grown.is_error() && is_held_again(c, before.value(), range.end)) {
        c.report(kAliasedItemAssignment, range,
                 fmt::format("another name or member may be the same list as the member `{}`, "
                             "which Python would change too",
                             name))
            .with_help("make a new list: `xs = xs + [...]`");
        grown = Object::error();
    }
    if (grown.is_error() || !is_certain_to_change(c, before, range)) {
        grown = Object::make(ObjectKind::kUnbound, Unbound{});
    }
    assign_to_member(c, own, name, grown, range);
}

// A member's list, which a branch or loop makes longer that it is not of: it is given a copy of its
// own, if nothing else holds it.
void own_grown_member(Context& c, Namespace& own, std::string_view name, const Object& list) {
    bool is_free = has_cells(c, list) && !is_shared(c, list) && !is_foreign(c, list) &&
                   !may_be_another(c, list) && !is_owned(c, own.object()) &&
                   is_joined(c, owner_of(c, own.object()));
    if (is_free) {
        Object copy = Object::list(list.items());
        claim(c, copy);
        grow_member(c, own, name, copy);
    }
}

// The same as exec_growth() for a member.
bool grow_member_by_call(Context& c, const Expr* expr) {
    const Expr* argument = nullptr;
    bool extends = false;
    const auto* place =
        syntax::maybe_as<syntax::AttributeExpr>(grown_by_call(c, expr, argument, extends));
    Namespace* own = grown_instance(c, place);
    std::string_view name = own != nullptr ? c.text(place->name) : std::string_view();
    const Object* found = own != nullptr ? own->find_own(name) : nullptr;
    if (found == nullptr) {
        return false;
    }
    if (found->is(ObjectKind::kList)) {
        own_grown_member(c, *own, name, *found);
        return false;
    }
    if (!found->is_numbers() && !is_sequence_value(*found)) {
        return false;
    }
    Object before = *found;
    Object grown = made_longer(c, before, argument, extends, expr->range);
    set_grown_member(c, *own, name, before, std::move(grown), expr->range);
    return true;
}

}  // namespace

bool exec_growth(Context& c, const Expr* expr) {
    const Expr* argument = nullptr;
    bool extends = false;
    const auto* name =
        syntax::maybe_as<syntax::NameExpr>(grown_by_call(c, expr, argument, extends));
    if (name == nullptr) {
        return grow_member_by_call(c, expr);
    }
    const Object* found = c.at.scope->find(name->name);
    if (found == nullptr || !(found->is_numbers() || is_sequence_value(*found))) {
        return false;
    }
    Object sequence = *found;
    Object grown = made_longer(c, sequence, argument, extends, expr->range);
    bind_grown(c, name, sequence, grown, expr->range);
    return true;
}

bool exec_growth(Context& c, const syntax::NameExpr* name, const Object& list, const Object& more,
                 Range range) {
    if (!(list.is_numbers() || is_sequence_value(list)) ||
        !(more.is(ObjectKind::kList) || more.is_numbers()) ||
        c.at.scope->find(name->name) == nullptr) {
        return false;
    }
    bind_grown(c, name, list, insert_items(c, list, more, range), range);
    return true;
}

bool exec_member_growth(Context& c, Namespace& own, std::string_view name, const Object& more,
                        Range range) {
    const Object* found = own.find_own(name);
    if (found == nullptr || !(more.is(ObjectKind::kList) || more.is_numbers())) {
        return false;
    }
    if (found->is(ObjectKind::kList)) {
        own_grown_member(c, own, name, *found);
        return false;
    }
    if (!found->is_numbers() && !is_sequence_value(*found)) {
        return false;
    }
    Object before = *found;
    set_grown_member(c, own, name, before, insert_items(c, before, more, range), range);
    return true;
}

void own_in_branch(Context& c, Symbol name) {
    const Object* found = c.at.scope->find(name);
    if (found == nullptr || (!found->is(ObjectKind::kList) && !found->is(ObjectKind::kDict)) ||
        is_owned(c, *found) || is_shared(c, *found) || is_foreign(c, *found) ||
        may_be_another(c, *found)) {
        return;
    }
    const ir::Graph* owner = owner_of(c, *found);
    for (const ir::Graph* graph = c.graph; graph != owner; graph = graph->parent()) {
        if (graph == nullptr || graph->name != kBranchGraph) {
            return;  // the body of a loop would change the same copy again
        }
    }
    Object copy = found->is(ObjectKind::kList) ? Object::list(found->items())
                                               : Object::dict(found->get<DictObject>());
    claim(c, copy);
    c.at.scope->set(name, copy);
}

}  // namespace sardonyx::elaborate
