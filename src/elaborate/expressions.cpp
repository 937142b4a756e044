// Expressions by their kind: literals, conditionals, slices, lambdas and `:=` here, the others in
// the files that are named for them.
#include "elaborate/expressions.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "elaborate/assignments.h"
#include "elaborate/bool_operators.h"
#include "elaborate/call_expressions.h"
#include "elaborate/comparison_chains.h"
#include "elaborate/comprehensions.h"
#include "elaborate/control_flow.h"
#include "elaborate/displays.h"
#include "elaborate/library/members.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/statics.h"
#include "elaborate/operator_expressions.h"
#include "elaborate/scopes/generators.h"
#include "elaborate/scopes/lookup.h"
#include "elaborate/subscripts.h"
#include "syntax/literals.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::ExprKind;

namespace {

Object eval_if_expression(Context& c, const syntax::IfExpExpr* expr) {
    Object test = test_value(c, expr->condition);
    if (std::optional<bool> holds = truth(test)) {
        return eval(c, *holds ? expr->body : expr->orelse);
    }
    if (test.is_error()) {
        return test;
    }
    return choose(c, test.value(), expr);
}

Object eval_slice(Context& c, const syntax::SliceExpr* expr) {
    auto part = [&c](const Expr* bound) {
        return bound == nullptr ? Object::none() : eval(c, bound);
    };
    return Object::make(ObjectKind::kSlice,
                        SliceObject{part(expr->lower), part(expr->upper), part(expr->step)});
}

Object make_lambda(Context& c, const syntax::LambdaExpr* expr) {
    close_over(c.program, closing_scope(c));
    Closure closure{nullptr, expr, closing_scope(c), {}};
    for (const syntax::Parameter& parameter : expr->parameters->items) {
        closure.defaults.push_back(parameter.default_value != nullptr
                                       ? eval(c, parameter.default_value)
                                       : Object::error());
    }
    return Object::make(ObjectKind::kClosure, std::move(closure));
}

Object unsupported(Context& c, const Expr* expr, std::string_view what, std::string help) {
    c.report(kUnsupportedExpression, expr->range, fmt::format("{} in a script", what))
        .with_help(std::move(help));
    return Object::error();
}

// name := value. In a comprehension it binds in the scope around.
Object eval_named(Context& c, const syntax::NamedExpr* expr) {
    Object value = eval(c, expr->value);
    std::shared_ptr<Scope> own = c.at.scope;
    bool is_own_graph = true;
    while (c.at.scope->around != nullptr) {
        is_own_graph =
            is_own_graph && c.at.scope->comprehension == c.graph && !c.at.scope->may_have_ended;
        c.at.scope = std::shared_ptr<Scope>(c.at.scope->around);
    }
    if (is_own_graph) {
        assign(c, expr->target, value, expr->range);
    }
    c.at.scope = own;
    return is_own_graph ? value
                        : unsupported(c, expr, "`:=` in a comprehension over a tensor",
                                      "bind the name before, or write a loop");
}

// What a `yield` gives back is None: nobody sends anything else.
Object eval_yield(Context& c, const syntax::PrefixExpr* expr) {
    Object item = expr->operand != nullptr ? eval(c, expr->operand) : Object::none();
    if (item.is_error()) {
        return item;
    }
    if (expr->kind == ExprKind::kYield) {
        return add_yield(c, item, expr->range) ? Object::none() : Object::error();
    }
    std::optional<std::vector<Object>> items = static_items(c, item);
    if (!items) {
        c.report(kUnsupportedOperand, expr->range,
                 fmt::format("`yield from` of {}", kind_name(item)))
            .with_help("give it a list or generator whose items are known");
        return Object::error();
    }
    for (const Object& one : *items) {
        if (!add_yield(c, one, expr->range)) {
            return Object::error();
        }
    }
    return Object::none();
}

Object eval_kind(Context& c, const Expr* expr, size_t wanted) {
    switch (expr->kind) {
        case ExprKind::kError:
            return Object::error();
        case ExprKind::kName:
            return lookup(c, syntax::as<syntax::NameExpr>(expr)->name, expr->range);
        case ExprKind::kInt: {
            const auto* integer = syntax::as<syntax::IntExpr>(expr);
            if (integer->overflows) {
                std::optional<Int128> wide = syntax::wide_integer(c.source(expr->range));
                return wide ? Object::whole(*wide)
                            : refuse(c, expr->range, "an integer that does not fit in 128 bits",
                                     "integers of ONNX have 64 bits at most; use a float");
            }
            return Object::integer(integer->value);
        }
        case ExprKind::kFloat:
            return Object::real(syntax::as<syntax::FloatExpr>(expr)->value);
        case ExprKind::kString:
            return Object::string(std::string(syntax::as<syntax::StringExpr>(expr)->value));
        case ExprKind::kBytes:
            return Object::bytes(std::string(syntax::as<syntax::BytesExpr>(expr)->value));
        case ExprKind::kFString:
            return eval_fstring(c, syntax::as<syntax::FStringExpr>(expr));
        case ExprKind::kBool:
            return Object::boolean(syntax::as<syntax::BoolExpr>(expr)->value);
        case ExprKind::kNone:
            return Object::none();
        case ExprKind::kEllipsis:
            return Object::ellipsis();
        case ExprKind::kTuple:
        case ExprKind::kList:
        case ExprKind::kSet:
            return eval_items(c, static_cast<const syntax::SequenceExpr*>(expr));
        case ExprKind::kDict:
            return eval_dict(c, syntax::as<syntax::DictExpr>(expr));
        case ExprKind::kComprehension:
            return eval_comprehension(c, syntax::as<syntax::ComprehensionExpr>(expr));
        case ExprKind::kUnary:
            return eval_unary(c, syntax::as<syntax::UnaryExpr>(expr));
        case ExprKind::kBinary:
            return eval_binary(c, syntax::as<syntax::BinaryExpr>(expr));
        case ExprKind::kBoolOp:
            return eval_bool_op(c, syntax::as<syntax::BoolOpExpr>(expr));
        case ExprKind::kCompare:
            return eval_compare(c, syntax::as<syntax::CompareExpr>(expr));
        case ExprKind::kCall:
            return eval_arguments_and_call(c, syntax::as<syntax::CallExpr>(expr), wanted);
        case ExprKind::kAttribute: {
            const auto* node = syntax::as<syntax::AttributeExpr>(expr);
            Object object = eval(c, node->value);
            if (object.is_error() || !node->name.valid()) {
                return Object::error();
            }
            return member(c, object, c.text(node->name), expr->range, node->name_range);
        }
        case ExprKind::kSubscript: {
            const auto* node = syntax::as<syntax::SubscriptExpr>(expr);
            Object object = eval(c, node->value);
            return object.is_error() ? object
                                     : subscript(c, object, eval(c, node->index), node->index,
                                                 expr->range, node->value->range);
        }
        case ExprKind::kSlice:
            return eval_slice(c, syntax::as<syntax::SliceExpr>(expr));
        case ExprKind::kLambda:
            return make_lambda(c, syntax::as<syntax::LambdaExpr>(expr));
        case ExprKind::kIfExp:
            return eval_if_expression(c, syntax::as<syntax::IfExpExpr>(expr));
        case ExprKind::kNamed: {
            const auto* node = syntax::as<syntax::NamedExpr>(expr);
            return eval_named(c, node);
        }
        case ExprKind::kImaginary:
            return unsupported(c, expr, "a complex number",
                               "split it into a real and an imaginary tensor");
        case ExprKind::kStarred:
            return unsupported(c, expr, "`*` outside a call or display",
                               "unpack the items by name");
        case ExprKind::kYield:
        case ExprKind::kYieldFrom:
            if (c.at.yields != nullptr) {
                return eval_yield(c, static_cast<const syntax::PrefixExpr*>(expr));
            }
            [[fallthrough]];
        case ExprKind::kAwait:
            return unsupported(c, expr, "`await` or `yield`",
                               "a script cannot pause: return its results");
    }
    return Object::error();
}

}  // namespace

Object eval(Context& c, const Expr* expr, size_t wanted) {
    DepthGuard guard(c, expr->range);
    Object object = guard && !c.is_raising() ? eval_kind(c, expr, wanted) : Object::error();
    if (object.nesting() <= c.options.limits.depth) {
        return object;
    }
    c.report(kLimitExceeded, expr->range,
             fmt::format("lists nested more than {} deep", c.options.limits.depth))
        .with_help("put the items into one list");
    return Object::error();
}

}  // namespace sardonyx::elaborate
