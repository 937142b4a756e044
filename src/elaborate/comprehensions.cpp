// Comprehensions over static items are unrolled. From a clause over a tensor or a sequence on, the
// list is one that grows in the graph (lists.h), under a name that no script can write.
#include "elaborate/comprehensions.h"

#include <fmt/format.h>

#include "elaborate/assignments.h"
#include "elaborate/bool_operators.h"
#include "elaborate/emit/constants.h"
#include "elaborate/emit/sequences.h"
#include "elaborate/expressions.h"
#include "elaborate/graph_loop.h"
#include "elaborate/iterables.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/statics.h"
#include "elaborate/scopes/branch.h"
#include "elaborate/scopes/generators.h"
#include "elaborate/scopes/loop_parts.h"
#include "elaborate/scopes/loop_state.h"
#include "elaborate/scopes/merge.h"
#include "syntax/visit.h"

namespace sardonyx::elaborate {

namespace {

constexpr Symbol kItems{UINT32_MAX - 1};

struct Comprehension {
    const syntax::ComprehensionExpr* expr;
    std::vector<Object> items;
    DictObject dict;
    bool in_graph = false;                       // the items are in the list kItems
    std::optional<bool> ends_at = std::nullopt;  // the truth of an item after which none is made
    bool has_ended = false;
    bool may_have_ended = false;  // a tensor's value says whether
};

bool run_clause(Context& c, Comprehension& all, size_t clause);

bool add_element(Context& c, Comprehension& all) {
    size_t changes = c.changes.size();
    Object element = eval(c, all.expr->element);
    if (element.is_error()) {
        return false;
    }
    if (all.may_have_ended && c.changes.size() != changes) {
        c.report(kStaticRequired, all.expr->element->range,
                 "a change in a generator that a tensor's value may have ended before")
            .with_help("write a loop");
        return false;
    }
    if (all.ends_at && element.is_static()) {
        all.has_ended = truth(element) == all.ends_at;
    } else if (all.ends_at) {
        all.may_have_ended = true;
        c.at.scope->may_have_ended = true;
    }
    if (all.expr->value != nullptr) {
        Object value = eval(c, all.expr->value);
        if (!check_key(c, element, all.expr->element->range)) {
            return false;
        }
        all.dict.set(element, value);
        return !value.is_error();
    }
    if (!all.in_graph) {
        all.items.push_back(std::move(element));
        return true;
    }
    Object before = *c.at.scope->find(kItems);
    Object after = insert_item(c, before, element, all.expr->element->range);
    c.at.scope->set(kItems, after);
    return !after.is_error();
}

// Goes on with an item for which the conditions from `test` on hold.
bool run_item(Context& c, Comprehension& all, size_t clause, size_t test) {
    const syntax::ComprehensionFor& loop = all.expr->clauses[clause];
    for (; test < loop.conditions.size(); ++test) {
        const syntax::Expr* expr = loop.conditions[test];
        Object outcome = test_value(c, expr);
        std::optional<bool> holds = truth(outcome);
        if (outcome.is_error() || holds == false) {
            return !outcome.is_error();
        }
        if (holds) {
            continue;
        }
        if (!all.in_graph) {
            c.report(kStaticRequired, expr->range, "a condition on a tensor in a comprehension")
                .with_help("use `op.Where` or `op.Compress`, or loop over a tensor");
            return false;
        }
        bool ok = true;
        Branch yes = run_branch(c, [&] {
            ok = run_item(c, all, clause, test + 1);
            return Jump::kNone;
        });
        Branch no = run_branch(c, [] { return Jump::kNone; });
        merge(c, outcome.value(), yes, no, expr->range, expr->range.end);
        return ok;
    }
    return run_clause(c, all, clause + 1);
}

// A clause over what the graph counts through.
bool run_in_graph(Context& c, Comprehension& all, size_t clause, const Iterable& iterable) {
    const syntax::ComprehensionFor& clause_of = all.expr->clauses[clause];
    if (all.expr->value != nullptr) {
        c.report(kStaticRequired, clause_of.iterable->range, "a dict made from a tensor's items")
            .with_help("make a list");
        return false;
    }
    if (!all.in_graph) {
        c.at.scope->set(kItems, Object::list(std::move(all.items)));
        all.in_graph = true;
    }
    bool ok = true;
    GraphLoop loop;
    loop.range = all.expr->range;
    loop.head = clause_of.iterable->range;
    loop.items = kItems;
    loop.trip_count = iterable.count;
    loop.count = iterable.dim;
    loop.start = emit_constant(c, Tensor::scalar<bool>(true), loop.head);
    loop.run = [&](ir::Value* iteration) {
        ok = assign(c, clause_of.target, iterable.at(iteration), clause_of.target->range) &&
             run_item(c, all, clause, 0);
        if (!ok) {
            c.at.scope->set(kItems, Object::error());  // what the list is then says no more
        }
    };
    diagnostics::Checkpoint before(c.program.diagnostics);
    run_graph_loop(c, loop);
    return ok && !before.has_errors();
}

bool run_over(Context& c, Comprehension& all, size_t clause,
              const std::optional<Iterable>& iterable);

// Runs the clauses from `clause` on; false after an error.
bool run_clause(Context& c, Comprehension& all, size_t clause) {
    if (clause == all.expr->clauses.size()) {
        return add_element(c, all);
    }
    return run_over(c, all, clause, eval_iterable(c, all.expr->clauses[clause].iterable));
}

bool run_over(Context& c, Comprehension& all, size_t clause,
              const std::optional<Iterable>& iterable) {
    const syntax::ComprehensionFor& loop = all.expr->clauses[clause];
    if (!iterable) {
        return false;
    }
    if (!iterable->is_static()) {
        return run_in_graph(c, all, clause, *iterable);
    }
    std::optional<std::vector<Object>> items = static_items(c, iterable->items);
    if (!items) {
        c.report(kLimitExceeded, loop.iterable->range, "too many static iterations");
        return false;
    }
    const Object& source = iterable->source.is_error() ? iterable->items : iterable->source;
    size_t changes = c.changes.size();
    for (Object& item : *items) {
        if (refuse_outdated(c, source, loop.iterable->range) ||
            !count_iteration(c, all.expr->range) ||
            !assign(c, loop.target, std::move(item), loop.target->range) ||
            !run_item(c, all, clause, 0)) {
            return false;
        }
        if (all.has_ended) {
            break;
        }
    }
    if (refuse_change(c, source, changes, loop.iterable->range)) {
        return false;
    }
    return true;
}

// All of it, over what the first clause loops over.
Object run_comprehension(Context& c, const syntax::ComprehensionExpr* expr,
                         const std::optional<Iterable>& first,
                         std::optional<bool> ends_at = std::nullopt) {
    // The targets of a comprehension are its own: a scope around it keeps them.
    std::shared_ptr<Scope> outer = c.at.scope;
    c.at.scope = std::make_shared<Scope>(outer->function, closing_scope(c));
    c.at.scope->comprehension = c.graph;
    c.at.scope->around = outer;
    Comprehension all{expr, {}, {}};
    all.ends_at = ends_at;
    bool ok = run_over(c, all, 0, first);
    const Object* grown = c.at.scope->find(kItems);
    Object result = !ok                                ? Object::error()
                    : expr->value != nullptr           ? Object::dict(std::move(all.dict))
                    : all.in_graph && grown != nullptr ? *grown
                                                       : Object::list(std::move(all.items));
    c.at.scope = outer;
    return result;
}

// A generator: its first clause is evaluated where it stands, and the rest where it is used.
Object make_generator(Context& c, const syntax::ComprehensionExpr* expr, const Iterable& first) {
    bool binds = false;
    auto find_named = [&binds](const syntax::Expr* inner) {
        binds = binds || inner->kind == syntax::ExprKind::kNamed;
    };
    syntax::each_expression(expr, find_named);
    if (binds) {
        c.report(kUnsupportedExpression, expr->range,
                 "`:=` in a generator that is used elsewhere, item by item")
            .with_help("make a list, or write a loop");
        return Object::error();
    }
    close_over(c.program, c.at.scope);
    IteratorObject generator{"a generator", {}, Object::tuple({first.items}), c.span(expr->range)};
    generator.items = [expr, first,
                       scope = c.at.scope](Context& user) -> std::optional<std::vector<Object>> {
        std::shared_ptr<Scope> own = user.at.scope;
        user.at.scope = scope;
        Object result = run_comprehension(user, expr, first);
        if (!result.is_error() && !result.is(ObjectKind::kList)) {
            refuse(user, expr->range, "a generator over a tensor's rows", "make a list");
        }
        user.at.scope = own;
        return result.is(ObjectKind::kList) ? result.items() : std::vector<Object>();
    };
    generator.is_by_place = expr->clauses.size() == 1 && expr->clauses[0].conditions.empty() &&
                            !first.items.is(ObjectKind::kIterator) && first.source.is_error();
    return make_iterator(c, std::move(generator));
}

bool is_generator(const syntax::ComprehensionExpr* expr) {
    return expr->comprehension == syntax::ComprehensionKind::kGenerator;
}

Object collected(Context& c, const syntax::ComprehensionExpr* expr,
                 const std::optional<Iterable>& first, std::optional<bool> ends_at) {
    Object result = run_comprehension(c, expr, first, ends_at);
    if (expr->comprehension == syntax::ComprehensionKind::kSet && !result.is_error()) {
        return result.is(ObjectKind::kList)
                   ? make_set(c, result.items(), expr->range)
                   : refuse(c, expr->range, "a set of a tensor's rows", "make a list");
    }
    if (result.is(ObjectKind::kList) || result.is(ObjectKind::kDict)) {
        claim(c, result);
    }
    return result;
}

}  // namespace

Object eval_comprehension(Context& c, const syntax::ComprehensionExpr* expr) {
    std::optional<Iterable> first = eval_iterable(c, expr->clauses[0].iterable);
    return is_generator(expr) && first && first->is_static()
               ? make_generator(c, expr, *first)
               : collected(c, expr, first, std::nullopt);
}

Object eval_comprehension_at_once(Context& c, const syntax::ComprehensionExpr* expr,
                                  std::optional<bool> ends_at) {
    std::optional<Iterable> first = eval_iterable(c, expr->clauses[0].iterable);
    return collected(c, expr, first, is_generator(expr) ? ends_at : std::nullopt);
}

}  // namespace sardonyx::elaborate
