// `and`, `or` and `not`, and what Python may skip: an operand that may fail or has effects runs in
// a branch.
#include "elaborate/bool_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elaborate/emit/emit.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/emit/repairs.h"
#include "elaborate/emit/trial.h"
#include "elaborate/expressions.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/statics.h"
#include "elaborate/operators/truth.h"
#include "elaborate/scopes/branch.h"
#include "elaborate/scopes/held_values.h"
#include "elaborate/scopes/merge.h"
#include "ir/standard.h"
#include "lowering/operators.h"
#include "syntax/literals.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::Range;

namespace {

// --- What Python may skip ------------------------------------------------------------------------

bool is_one_element(const ir::Value* value) {
    return value == nullptr || has_one_element(value->type);
}

// A number that is known, and is not 0.
bool is_known_divisor(const ir::Value* value) {
    std::optional<std::vector<double>> numbers =
        value != nullptr && value->constant ? to_doubles(*value->constant) : std::nullopt;
    return numbers &&
           std::all_of(numbers->begin(), numbers->end(), [](double number) { return number != 0; });
}

// Whether the node gives a result whatever its inputs are. Operators that are not named here may
// fail, as Gather does past the end.
bool never_fails(const ir::Node& node) {
    static constexpr std::string_view kSafe[] = {
        "Abs",   "Cast",     "CastLike",       "Ceil",  "Constant", "Cos",  "Erf",  "Exp",
        "Floor", "Identity", "IsInf",          "IsNaN", "Log",      "Neg",  "Not",  "ReduceSum",
        "Round", "Shape",    "SequenceLength", "Sign",  "Sin",      "Size", "Sqrt", "Tanh"};
    static constexpr std::string_view kElementwise[] = {
        "Add", "And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Min",
        "Mul", "Or",  "Pow",   "Sub",     "Where",          "Xor"};
    auto is_among = [&node](const auto& names) {
        return std::find(std::begin(names), std::end(names), node.op_type) != std::end(names);
    };
    if (!node.domain.empty()) {
        return false;
    }
    if (is_among(kSafe)) {
        return true;
    }
    size_t large = 0;  // two of these may not go together
    for (const ir::Use& use : node.inputs()) {
        large += is_one_element(use.value) ? 0 : 1;
    }
    if (ir::is_standard(node, "Div") || ir::is_standard(node, "Mod")) {
        bool is_real = is_floating(node.input(0)->type.element_type());
        return large < 2 && (is_real || is_known_divisor(node.input(1)));
    }
    if (ir::is_standard(node, "Gather")) {  // x.shape[0]; that there is such an axis is known
        const ir::Node* maker = node.input(0)->producer();
        return ir::is_standard(maker, "Shape") && maker->input(0)->type.has_shape() &&
               node.input(1)->constant.has_value();
    }
    return large < 2 && (is_among(kElementwise) ||
                         (ir::is_standard(node, "Reshape") && is_one_element(node.input(0))));
}

}  // namespace

Object skippable(Context& c, BoolOperator op, ir::Value* first, Range range, uint32_t after,
                 const std::function<Object()>& evaluate) {
    bool is_and = op == BoolOperator::kAnd;
    Trial trial(c);
    Object second;
    Branch taken = run_branch(c, [&] {
        second = evaluate();
        return Jump::kNone;
    });
    if (second.is_error()) {
        return second;
    }
    bool is_plain = taken.changes.empty() && !trial.has_changed_objects();
    for (const ir::Node& node : *taken.graph) {
        is_plain = is_plain && never_fails(node);
    }
    Emitter e(c, range);
    if (is_plain) {
        trial.take_back(*taken.graph);
        second = evaluate();
        if (!second.is_tensor()) {
            return second.is_error() || second.as_bool() != is_and ? second : Object::tensor(first);
        }
        return as_object(e.emit(is_and ? "And" : "Or", {first, second.value()}));
    }
    trial.keep();
    first = e.rank(first) == 0 ? first : e.emit("Reshape", {first, e.int64s({})});
    Branch skipped = run_branch(c, [] { return Jump::kNone; });
    Object decided = Object::boolean(!is_and);
    if (first == nullptr) {
        return Object::error();
    }
    std::optional<Object> joined =
        is_and ? merge_values(c, first, taken, skipped, second, decided, range, after)
               : merge_values(c, first, skipped, taken, decided, second, range, after);
    return joined.value_or(Object::error());
}

namespace {

// Whether Python finds no truth value in it: a tensor that has not one element, as far as is known.
bool is_ambiguous(const Object& object) {
    return object.is_tensor() && object.value()->type.is_tensor() &&
           object.value()->type.has_shape() && !has_one_element(object.value()->type);
}

bool is_bool_tensor(const Object& object) {
    return object.is_tensor() && object.value()->type.element_type() == ElementType::kBool;
}

// `and`, `or` and `not` ask for the truth value of a tensor that has none.
template <typename Expression>
Object refuse_ambiguous(Context& c, const Expression* expr, Range range, std::string_view word,
                        std::string_view symbol, bool are_bools) {
    diagnostics::Diagnostic& reported =
        c.report(kAmbiguousTruthValue, range,
                 fmt::format("`{}` on a tensor of several elements, which has no truth value in "
                             "Python",
                             word))
            .with_help(fmt::format("use `{}`, which is computed for each element", symbol));
    if (are_bools) {
        offer_operator(c, reported, expr);
    }
    return Object::error();
}

}  // namespace

Object eval_not(Context& c, const syntax::UnaryExpr* expr, const Object& operand) {
    if (is_ambiguous(operand)) {
        Range word{expr->range.begin, expr->range.begin + 3};
        return refuse_ambiguous(c, expr, word, "not", "~", is_bool_tensor(operand));
    }
    Object test = condition(c, operand, expr->operand->range);
    if (!test.is_tensor()) {
        return test.is_error() ? test : static_unary(c, lowering::Unary::kNot, test, expr->range);
    }
    // Python's answer is a bool, whatever the shape of the one element is.
    Emitter e(c, expr->range);
    ir::Value* value = test.value();
    return as_number(
        e.emit("Not", {e.rank(value) == 0 ? value : e.emit("Reshape", {value, e.int64s({})})}));
}

namespace {

// What `a and b` is when `a`, all that stands before operand `i`, is known only in the graph.
Object eval_second(Context& c, const syntax::BoolOpExpr* expr, size_t i, const Object& a) {
    std::string_view word = expr->is_and ? "`and`" : "`or`";
    const Expr* second = expr->operands[i];
    Range a_range{expr->operands[0]->range.begin, expr->operands[i - 1]->range.end};
    Range b_range = second->range;
    auto refuse_elements = [&](const Object& b) {
        return refuse_ambiguous(c, expr, expr->op_range, expr->is_and ? "and" : "or",
                                expr->is_and ? "&" : "|", is_bool_tensor(a) && is_bool_tensor(b));
    };
    if (is_ambiguous(a)) {
        Object b = eval(c, second);
        return b.is_error() ? b : refuse_elements(b);
    }
    std::string repair = fmt::format("combine the elements: `({}) {} ({})`", c.source(a_range),
                                     expr->is_and ? "&" : "|", c.source(b_range));
    ir::Value* first = truth_operand(c, a, a_range, word, repair);
    if (first == nullptr) {
        return Object::error();
    }
    Range whole{a_range.begin, b_range.end};
    BoolOperator op = expr->is_and ? BoolOperator::kAnd : BoolOperator::kOr;
    // The operand is evaluated where `and` has found all before it true, `or` all false.
    std::vector<ir::Value*> held;
    for (const Expr* before : expr->operands.first(i)) {
        std::vector<ir::Value*> more = held_when(c, before, expr->is_and);
        held.insert(held.end(), more.begin(), more.end());
    }
    return skippable(c, op, first, whole, b_range.end, [&] {
        HeldValues values(c, held);
        Object b = eval(c, second);
        if (b.is_error() || b.is(ObjectKind::kBool)) {
            return b;
        }
        if (is_ambiguous(b)) {
            return refuse_elements(b);
        }
        if (!b.is_tensor_like()) {
            c.report(kUnsupportedOperand, b_range,
                     fmt::format("{} between a tensor and {}: Python returns one of them", word,
                                 kind_name(b)))
                .with_help("choose with `a if c else b`");
            return Object::error();
        }
        return as_object(truth_operand(c, b, b_range, word, repair));
    });
}

}  // namespace

Object eval_bool_op(Context& c, const syntax::BoolOpExpr* expr) {
    Object all;
    for (size_t i = 0; i < expr->operands.size(); ++i) {
        all = i == 0 || !all.is_graph_value() ? eval(c, expr->operands[i])
                                              : eval_second(c, expr, i, all);
        if (all.is_error()) {
            return all;
        }
        std::optional<bool> so_far = all.is_graph_value() ? std::nullopt : truth(all);
        if (!so_far && !all.is_graph_value() && i + 1 < expr->operands.size()) {
            // An instance is asked, and is itself the answer.
            Object test = condition(c, all, expr->operands[i]->range);
            if (test.is_tensor()) {
                refuse(c, expr->operands[i]->range,
                       fmt::format("`{}` on {} whose length is known only when the graph runs",
                                   expr->is_and ? "and" : "or", kind_name(all)),
                       "choose with `a if c else b`");
            }
            if (test.is_error() || test.is_tensor()) {
                return Object::error();
            }
            so_far = test.as_bool();
        }
        if (so_far && *so_far != expr->is_and) {
            return all;  // short circuit
        }
    }
    return all;
}

Object test_value(Context& c, const Expr* expr) {
    Object test = condition(c, eval(c, expr), expr->range);
    if (!test.is_tensor() || !test.value()->type.has_shape() ||
        test.value()->type.shape().empty()) {
        return test;
    }
    // If and Loop take a scalar; more than one element has no truth value, and Reshape refuses it.
    Emitter e(c, expr->range);
    return as_object(e.emit("Reshape", {test.value(), e.int64s({})}));
}

}  // namespace sardonyx::elaborate
