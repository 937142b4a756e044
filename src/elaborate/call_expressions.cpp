// A call as it stands in the text: what is called, and its arguments in Python's order.
#include "elaborate/call_expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "elaborate/comprehensions.h"
#include "elaborate/emit/interpreter.h"
#include "elaborate/emit/operator_binding.h"
#include "elaborate/emit/opsets.h"
#include "elaborate/expressions.h"
#include "elaborate/library/builtins.h"
#include "elaborate/library/members.h"
#include "elaborate/library/methods.h"
#include "elaborate/lists.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/items.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::ExprKind;

namespace {

// Whether a call of it goes through its iterable argument before it returns.
bool uses_at_once(const Object& callee) {
    static constexpr std::string_view kBuiltins[] = {"all", "any",    "max",      "min",
                                                     "sum", "sorted", "math.prod"};
    static constexpr std::string_view kTypes[] = {"list", "tuple",   "set",        "frozenset",
                                                  "dict", "Counter", "OrderedDict"};
    static constexpr std::string_view kMethods[] = {"extend",     "join",         "update",
                                                    "union",      "intersection", "difference",
                                                    "isdisjoint", "issubset",     "issuperset"};
    auto is_among = [](std::string_view name, const auto& names) {
        return std::find(std::begin(names), std::end(names), name) != std::end(names);
    };
    return callee.is(ObjectKind::kPythonType) ? is_among(callee.get<PythonType>().name, kTypes)
           : callee.is(ObjectKind::kMethod)
               ? is_among(callee.get<MethodObject>().name, kMethods)
               : callee.is(ObjectKind::kBuiltin) &&
                     is_among(callee.get<BuiltinObject>().name, kBuiltins);
}

// Where any() and all() stop.
std::optional<bool> end_of_use(const Object& callee) {
    bool is_any = callee.is(ObjectKind::kBuiltin) && callee.get<BuiltinObject>().name == "any";
    bool is_all = callee.is(ObjectKind::kBuiltin) && callee.get<BuiltinObject>().name == "all";
    return is_any || is_all ? std::optional(is_any) : std::nullopt;
}

}  // namespace

Object eval_arguments_and_call(Context& c, const syntax::CallExpr* expr, size_t wanted) {
    Arguments arguments;
    arguments.range = expr->range;
    arguments.callee_range = expr->callee->range;
    // op.Add(...) is by far the commonest call: no object is made for the operator.
    const auto* attribute = syntax::maybe_as<syntax::AttributeExpr>(expr->callee);
    Object base;
    Object callee;
    if (attribute != nullptr && attribute->name.valid()) {
        if (const auto* name = syntax::maybe_as<syntax::NameExpr>(attribute->value)) {
            arguments.receiver = name->name;
            if (is_changing_method(c.text(attribute->name))) {
                own_in_branch(c, name->name);
            }
        }
        base = eval(c, attribute->value);
        if (base.is_error()) {
            return base;
        }
        arguments.callee_range = attribute->name_range;
    }
    bool is_operator = base.is(ObjectKind::kOpset);
    if (!is_operator) {
        callee =
            attribute != nullptr && attribute->name.valid()
                ? member(c, base, c.text(attribute->name), attribute->range, attribute->name_range)
                : eval(c, expr->callee);
        if (callee.is_error()) {
            return callee;
        }
    }
    bool failed = false;
    arguments.positional.reserve(expr->args.size());
    arguments.ranges.reserve(expr->args.size());
    for (const Expr* argument : expr->args) {
        if (argument->kind == ExprKind::kStarred) {
            Object starred = eval(c, static_cast<const syntax::PrefixExpr*>(argument)->operand);
            std::optional<std::vector<Object>> more = static_items(c, starred);
            if (!more) {
                if (!starred.is_error()) {
                    c.report(kStaticRequired, argument->range,
                             fmt::format("`*` on {}", kind_name(starred)))
                        .with_help("unpack a list or tuple whose length is known");
                }
                return Object::error();
            }
            for (Object& item : *more) {
                arguments.positional.push_back(std::move(item));
                arguments.ranges.push_back(argument->range);
            }
            continue;
        }
        const auto* generator = syntax::maybe_as<syntax::ComprehensionExpr>(argument);
        arguments.positional.push_back(
            generator != nullptr && uses_at_once(callee)
                ? eval_comprehension_at_once(c, generator, end_of_use(callee))
                : eval(c, argument));
        arguments.ranges.push_back(argument->range);
        failed = failed || arguments.positional.back().is_error();
    }
    for (const syntax::Keyword& keyword : expr->keywords) {
        Object value = eval(c, keyword.value);
        failed = failed || value.is_error();
        if (keyword.name.valid()) {
            arguments.keywords.push_back(
                {c.text(keyword.name), std::move(value), keyword.name_range, keyword.value->range});
            continue;
        }
        if (!value.is(ObjectKind::kDict)) {
            if (!value.is_error()) {
                c.report(kStaticRequired, keyword.value->range,
                         fmt::format("`**` on {}", kind_name(value)))
                    .with_help("unpack a dict whose keys are known");
            }
            return Object::error();
        }
        for (const auto& [name, item] : value.get<DictObject>().items) {
            if (name.is(ObjectKind::kString)) {
                arguments.keywords.push_back({c.model.intern(name.text()), item,
                                              keyword.value->range, keyword.value->range});
            }
        }
    }
    if (failed) {
        if (is_operator && c.knows_no_arguments) {
            bool is_known = true;
            find_operator(c, compiled_opset(c, base.get<OpsetObject>()), c.text(attribute->name),
                          arguments, is_known);
        }
        // A list that gets what is not known is not known any more.
        if (callee.is(ObjectKind::kMethod) && c.knows_no_arguments && arguments.receiver.valid() &&
            is_changing_method(c.text(attribute->name)) &&
            c.at.scope->find(arguments.receiver) != nullptr) {
            c.at.scope->set(arguments.receiver, Object::error());
        }
        return Object::error();
    }
    if (is_operator) {
        return call_operator(c, base.get<OpsetObject>(), c.text(attribute->name), arguments,
                             wanted);
    }
    c.at.is_own_call = c.at.own_call == expr && !callee.is(ObjectKind::kBuiltin) &&
                       !callee.is(ObjectKind::kMethod) && !callee.is(ObjectKind::kPartial) &&
                       !callee.is(ObjectKind::kPythonType);
    return call(c, callee, arguments, wanted);
}

}  // namespace sardonyx::elaborate
