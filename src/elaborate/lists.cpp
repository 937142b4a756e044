#include "elaborate/lists.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "elaborate/emit/sequences.h"
#include "elaborate/expressions.h"
#include "elaborate/flow/grown_names.h"
#include "elaborate/library/methods.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/owners.h"
#include "elaborate/scopes/aliases.h"
#include "elaborate/scopes/branch.h"

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

}  // namespace

bool exec_growth(Context& c, const Expr* expr) {
    const Expr* argument = nullptr;
    bool extends = false;
    const syntax::NameExpr* name = grown_by_call(c, expr, argument, extends);
    const Object* found = name != nullptr ? c.at.scope->find(name->name) : nullptr;
    if (found == nullptr || !(found->is_numbers() || is_sequence_value(*found))) {
        return false;
    }
    Object sequence = *found;
    Object value = eval(c, argument);
    Object grown = value.is_error() ? Object::error()
                   : extends        ? insert_items(c, sequence, value, expr->range)
                                    : insert_item(c, sequence, value, expr->range);
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
