// Expressions: names, literals, operators, displays, conditionals. Calls are in calls.cpp,
// subscripts in subscripts.cpp, members in members.cpp.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/nearest.h"
#include "elaborate/arrays.h"
#include "elaborate/branch.h"
#include "elaborate/classes.h"
#include "elaborate/comprehensions.h"
#include "elaborate/emit.h"
#include "elaborate/equality.h"
#include "elaborate/eval.h"
#include "elaborate/exec.h"
#include "elaborate/library.h"
#include "elaborate/lists.h"
#include "elaborate/repairs.h"
#include "elaborate/sizes.h"
#include "elaborate/statics.h"
#include "elaborate/text.h"
#include "elaborate/type_text.h"
#include "elaborate/unknowns.h"
#include "elaborate/values.h"
#include "ir/standard.h"
#include "lowering/operators.h"
#include "ops/substitutes.h"
#include "syntax/literals.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::ExprKind;
using syntax::Range;

DepthGuard::DepthGuard(Context& c, Range range) : c_(c), ok_(++c.depth <= c.options.limits.depth) {
    bool too_long = ++c.steps > c.options.limits.steps;
    if ((!ok_ || too_long) && !c.gave_up) {
        c.gave_up = true;
        c.report(kLimitExceeded, range,
                 too_long ? fmt::format("more than {} steps of evaluation", c.options.limits.steps)
                          : fmt::format("nested more than {} deep", c.options.limits.depth))
            .with_help(too_long ? "let loops and repeated calls run in the graph"
                                : "name the inner parts, or end the recursion");
    }
    ok_ = ok_ && !c.gave_up;
}

void close_over(Program& program, const std::shared_ptr<Scope>& scope) {
    std::shared_ptr<Scope> next = scope;
    for (; next != nullptr && !next->is_closed_over; next = next->enclosing) {
        next->is_closed_over = true;
        program.closed_over.push_back(next);
    }
}

namespace {

void report_unbound(Context& c, const Unbound& unbound, Symbol name, Range range) {
    if (!unbound.bindings.empty()) {
        diagnostics::Diagnostic& reported = c.report(
            kBranchTypeMismatch, range, fmt::format("`{}` {}", c.text(name), unbound.reason));
        for (const auto& [place, says] : unbound.bindings) {
            reported.label(place, says);
        }
        reported.with_help(
            "give it values of one type and rank, with `op.Cast` or `op.Reshape`, or two names");
        return;
    }
    diagnostics::Diagnostic& reported =
        c.report(kUnboundName, range, fmt::format("`{}` {}", c.text(name), unbound.reason));
    if (unbound.where.valid()) {
        reported.label(unbound.where, "because of this");
    }
    reported.with_help(
        fmt::format("bind `{}` before, so that it has a value either way", c.text(name)));
}

// Says once that a loop which may have run zero times has bound the name.
void warn_of_unbound(Context& c, Symbol name, const Object& object, Range range) {
    auto found = c.at.possibly_unbound.find(name.index);
    if (found == c.at.possibly_unbound.end() || !equal(found->second.value, object)) {
        return;
    }
    PossiblyUnbound& one = found->second;
    const std::deque<diagnostics::Diagnostic>& said = c.program.diagnostics.items();
    if (one.place < said.size() && said[one.place].kind == &kPossiblyUnbound) {
        return;
    }
    one.place = said.size();
    c.report(kPossiblyUnbound, range,
             fmt::format("`{}` has no value when the loop runs zero times", c.text(name)))
        .label(one.loop, "this loop binds it")
        .with_help(fmt::format("bind `{}` before the loop: Python raises an error here, and the "
                               "graph gives zeros",
                               c.text(name)));
}

// `relu` after the range of `F` in `F.relu`; empty: no member is asked for.
std::string_view word_after_dot(Context& c, Range range) {
    std::string_view text = c.program.sources.text(c.tree().file);
    size_t begin = size_t{range.end} + 1;
    if (begin >= text.size() || text[range.end] != '.') {
        return {};
    }
    size_t end = begin;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) {
        ++end;
    }
    return text.substr(begin, end - begin);
}

Object unknown_name(Context& c, Symbol name, Range range) {
    std::vector<std::string> names;
    if (c.function().environment != nullptr) {
        names = c.function().environment->names();
    }
    for (uint32_t i = 0; i < c.tree().names.size(); ++i) {
        if (c.at.scope->find(Symbol{i}) != nullptr) {
            names.emplace_back(c.text(Symbol{i}));
        }
    }
    std::vector<std::string_view> views(names.begin(), names.end());
    std::erase(views, c.function().name);  // a script that calls itself is no repair
    std::string_view near = nearest(c.text(name), views);
    std::string_view like = ops::operator_like(word_after_dot(c, range));
    diagnostics::Diagnostic& reported =
        c.report(kUnknownName, range, fmt::format("`{}` is not defined", c.text(name)));
    if (!like.empty() && near != "op") {
        reported.with_help(fmt::format("scripts call operators: `op.{}(...)`", like));
    } else if (!near.empty() && near != c.text(name)) {
        reported.with_help(fmt::format("did you mean `{}`?", near));
        offer_name(c, reported, range, c.text(name), near);
    } else {
        reported.with_help("define or import it, or pass it as a parameter");
    }
    return Object::error();
}

Object eval_items(Context& c, const syntax::SequenceExpr* expr) {
    std::vector<Object> items;
    for (const Expr* item : expr->items) {
        if (item->kind != ExprKind::kStarred) {
            items.push_back(eval(c, item));
            continue;
        }
        const Expr* operand = static_cast<const syntax::PrefixExpr*>(item)->operand;
        Object starred = eval(c, operand);
        std::optional<std::vector<Object>> more = static_items(c, starred);
        if (!more) {
            if (!starred.is_error()) {
                c.report(kStaticRequired, item->range, fmt::format("`*` on {}", kind_name(starred)))
                    .with_help("unpack a list or tuple whose length is known");
            }
            return Object::error();
        }
        items.insert(items.end(), more->begin(), more->end());
    }
    if (std::any_of(items.begin(), items.end(), [](const Object& o) { return o.is_error(); })) {
        return Object::error();
    }
    if (expr->kind == ExprKind::kTuple) {
        return Object::tuple(std::move(items));
    }
    if (expr->kind == ExprKind::kSet) {
        return make_set(c, items, expr->range);
    }
    Object list = Object::list(std::move(items));
    claim(c, list);
    return list;
}

Object eval_dict(Context& c, const syntax::DictExpr* expr) {
    DictObject dict;
    for (size_t i = 0; i < expr->keys.size(); ++i) {
        if (expr->keys[i] == nullptr) {
            Object mapping = eval(c, expr->values[i]);
            if (!mapping.is(ObjectKind::kDict)) {
                if (!mapping.is_error()) {
                    c.report(kStaticRequired, expr->values[i]->range,
                             fmt::format("`**` on {}", kind_name(mapping)))
                        .with_help("unpack a dict whose keys are known");
                }
                return Object::error();
            }
            for (const auto& [key, value] : mapping.get<DictObject>().items) {
                dict.set(key, value);
            }
            continue;
        }
        Object key = eval(c, expr->keys[i]);
        Object value = eval(c, expr->values[i]);
        if (key.is_error() || value.is_error()) {
            return Object::error();
        }
        if (!check_key(c, key, expr->keys[i]->range)) {
            return Object::error();
        }
        dict.set(key, std::move(value));
    }
    Object made = Object::dict(std::move(dict));
    claim(c, made);
    return made;
}

Object eval_fstring(Context& c, const syntax::FStringExpr* expr);

Object format_value(Context& c, const syntax::FStringPart& part) {
    Object value = eval(c, part.expr);
    if (value.is_error()) {
        return value;
    }
    if (is_by_value(value)) {
        return refuse(c, part.expr->range, "a class or its instance in an f-string",
                      "format its members");
    }
    if (!value.is_static()) {
        c.report(kStaticRequired, part.expr->range,
                 "a tensor in an f-string: its value is known only when the graph runs")
            .with_help("format static values alone, such as numbers and `x.shape[0]`");
        return Object::error();
    }
    if (part.conversion == 'r' || part.conversion == 'a') {
        value = Object::string(repr(value));
    } else if (part.conversion == 's' && !value.is(ObjectKind::kString)) {
        value = Object::string(repr(value));
    }
    Object spec = part.format != nullptr ? eval_fstring(c, part.format) : Object::string("");
    return spec.is_error() ? spec : format_object(c, value, spec.text(), part.expr->range);
}

Object eval_fstring(Context& c, const syntax::FStringExpr* expr) {
    std::string text;
    for (const syntax::FStringPart& part : expr->parts) {
        if (part.expr == nullptr) {
            text += part.text;
            continue;
        }
        Object piece = format_value(c, part);
        if (piece.is_error()) {
            return piece;
        }
        text += piece.text();
    }
    return Object::string(std::move(text));
}

// Operands of which one at least is a number that is known when the graph runs: it bends to the
// other one; of two Python numbers, an int bends to a float.
void bend_numbers(Context& c, const Object& a, const Object& b, Range a_range, Range b_range,
                  ir::Value*& left, ir::Value*& right) {
    if (is_python_number(a) && is_python_number(b)) {
        ElementType type = common_type(a, b).value_or(ElementType::kUndefined);
        bool is_wide =
            number_type(a) == ElementType::kUint64 || number_type(b) == ElementType::kUint64;
        if (is_wide && type == ElementType::kInt64) {
            c.report(kUnsupportedOperand, is_wide ? a_range : b_range,
                     "an int of a UINT64 tensor beside one that may be negative")
                .with_help("cast the tensor first, as in `op.Cast(x, to=INT64.dtype)`");
            return;
        }
        left = as_typed_value(c, a, type, a_range);
        right = as_typed_value(c, b, type, b_range);
        return;
    }
    left = a.is_tensor() ? a.value() : as_value(c, a, a_range);
    right = b.is_tensor() ? b.value() : as_value(c, b, b_range);
    if (left != nullptr && right != nullptr && a.is_number_tensor()) {
        left = number_beside(c, left, right, a_range);
    } else if (left != nullptr && right != nullptr) {
        right = number_beside(c, right, left, b_range);
    }
}

// The element type that both operands of an operator should have, from the one whose type is known.
void as_operands(Context& c, const Object& a, const Object& b, Range a_range, Range b_range,
                 ir::Value*& left, ir::Value*& right) {
    bool are_numbers = is_python_number(a) && is_python_number(b);
    if (a.is_number_tensor() || b.is_number_tensor() || are_numbers) {
        bend_numbers(c, a, b, a_range, b_range, left, right);
    } else if (a.is_tensor() || (a.is(ObjectKind::kAttribute) && !b.is_tensor())) {
        left = as_value(c, a, a_range);
        right =
            left == nullptr ? nullptr : as_value(c, b, b_range, left->type.element_type(), left);
    } else if (a.is(ObjectKind::kConstant) && !b.is_tensor()) {
        left = as_value(c, a, a_range);
        right =
            left == nullptr ? nullptr : as_value(c, b, b_range, left->type.element_type(), left);
    } else {
        right = as_value(c, b, b_range);
        left =
            right == nullptr ? nullptr : as_value(c, a, a_range, right->type.element_type(), right);
    }
}

Object refuse_operand(Context& c, std::string_view symbol, const Object& a, const Object& b,
                      Range range) {
    c.report(kUnsupportedOperand, range,
             fmt::format("`{}` between {} and {}", symbol, kind_name(a), kind_name(b)))
        .with_help("use tensors, numbers or lists of numbers");
    return Object::error();
}

bool is_collection(const Object& object) {
    return object.is_sequence() || object.is(ObjectKind::kDict) || object.is_shape_tensor();
}

bool is_operand(const Object& object) {
    return object.is_tensor_like() || object.is_number() || object.is_sequence() ||
           object.is(ObjectKind::kString);
}

bool has_one_element(const Type& type) {
    return type.has_shape() && std::all_of(type.shape().begin(), type.shape().end(),
                                           [](const Dim& dim) { return dim.equals(Dim(1)); });
}

// `t in [1, 2, 3]`: whether it is equal to one of the items.
Object in_items(Context& c, bool is_in, const Object& a, const Object& b, Range range) {
    std::optional<std::vector<Object>> items = static_items(c, b);
    if (!items) {
        return refuse_operand(c, is_in ? "in" : "not in", a, b, range);
    }
    ir::Value* any = nullptr;
    for (const Object& item : *items) {
        Object one = equal_objects(c, a, item, range);
        if (one.is_error() || truth(one) == true) {
            return one.is_error() ? one : Object::boolean(is_in);
        }
        if (one.is_tensor()) {
            any = any == nullptr ? one.value() : Emitter(c, range).emit("Or", {any, one.value()});
        }
    }
    if (any == nullptr) {
        return Object::boolean(!is_in);
    }
    return as_number(is_in ? any : Emitter(c, range).emit("Not", {any}));
}

// `v in x` of a tensor.
Object in_tensor(Context& c, bool is_in, const Object& a, const Object& b, Range range,
                 Range a_range, Range b_range) {
    ir::Value *value = nullptr, *tensor = nullptr;
    as_operands(c, a, b, a_range, b_range, value, tensor);
    if (value == nullptr || tensor == nullptr) {
        return Object::error();
    }
    Range ranges[] = {b_range, a_range};
    Emitter e(c, range, ranges);
    ir::Value* found = lowering::lower_contains(e, tensor, value);
    return as_number(is_in ? found : e.emit("Not", {found}));
}

// --- An int beside a float, which Python compares exactly ----------------------------------------

constexpr double kExactInts = 0x1p53;  // DOUBLE holds all ints up to it

syntax::CompareOp turned(syntax::CompareOp op) {
    using syntax::CompareOp;
    return op == CompareOp::kLt    ? CompareOp::kGt
           : op == CompareOp::kLtE ? CompareOp::kGtE
           : op == CompareOp::kGt  ? CompareOp::kLt
           : op == CompareOp::kGtE ? CompareOp::kLtE
                                   : op;
}

// `number op limit` of a limit that is known, by a limit of the other type, which is exact.
Object compare_with_limit(Context& c, syntax::CompareOp op, const Object& number,
                          const Object& limit, Range range) {
    using syntax::CompareOp;
    double below = limit.as_double(), above = below;
    if (limit.is_whole()) {  // between two floats
        bool is_above = static_cast<Int128>(below) < limit.as_whole();
        (is_above ? above : below) = std::nextafter(below, is_above ? HUGE_VAL : -HUGE_VAL);
        if (op == CompareOp::kEq || op == CompareOp::kNotEq) {
            return Object::boolean(op == CompareOp::kNotEq);
        }
    }
    bool wants_less = op == CompareOp::kLt || op == CompareOp::kLtE;
    if (limit.is_whole()) {
        return compare_pair(c, wants_less ? CompareOp::kLtE : CompareOp::kGtE, number,
                            Object::real(wants_less ? below : above), range, range, range);
    }
    constexpr double kMost = 0x1p63;
    if (!(std::fabs(below) < kMost)) {  // beyond all ints, or nan
        bool is_less = below >= kMost && number_type(number) != ElementType::kUint64;
        if (below >= kMost && below < 0x1p64 && !is_less) {
            return refuse_operand(c, "<", number, limit, range);
        }
        return Object::boolean(op == CompareOp::kNotEq || (wants_less && below > 0) ||
                               ((op == CompareOp::kGt || op == CompareOp::kGtE) && below < 0));
    }
    return compare_pair(c, op, number, Object::integer(static_cast<int64_t>(below)), range, range,
                        range);
}

// Whether the int is certainly one that DOUBLE holds: a size, or of an element type that it holds.
bool is_small_int(Context& c, ir::Value* value, Range range) {
    const ir::Node* maker = value->producer();
    bool is_cast = ir::is_standard(maker, "Cast");
    ElementType from = is_cast ? maker->input(0)->type.element_type() : ElementType::kUndefined;
    bool is_narrow = from == ElementType::kBool || (is_integer(from) && info(from).bits < 64);
    const ir::Graph* graph = value->graph();  // of a Loop: the number of the iteration
    bool is_counter = maker == nullptr && graph != nullptr && graph->parent() != nullptr &&
                      graph->inputs[0] == value;
    return is_narrow || is_counter || ir::is_standard(maker, "SequenceLength") ||
           Emitter(c, range).is_size(value);
}

// `number op real` of a value of INT64 and one of DOUBLE: where the int, rounded, is the float, the
// float is an int.
Object compare_in_graph(Context& c, syntax::CompareOp op, ir::Value* number, ir::Value* real,
                        Range range) {
    using lowering::Compare;
    using syntax::CompareOp;
    Emitter e(c, range);
    auto compare = [&e](Compare how, ir::Value* x, ir::Value* y) {
        return lowering::lower_compare(e, how, x, y);
    };
    auto how = static_cast<Compare>(op);
    ir::Value* rounded = lowering::cast(e, number, ElementType::kDouble);
    ir::Value* most = emit_constant(c, Tensor::scalar<double>(0x1p63), range);
    ir::Value* tie =
        e.emit("And", {compare(Compare::kEq, rounded, real), compare(Compare::kLt, real, most)});
    ir::Value* whole = lowering::cast(e, real, ElementType::kInt64);
    if (op == CompareOp::kEq || op == CompareOp::kNotEq) {
        ir::Value* equal = e.emit("And", {tie, compare(Compare::kEq, number, whole)});
        return as_number(op == CompareOp::kEq ? equal : e.emit("Not", {equal}));
    }
    bool wants_less = op == CompareOp::kLt || op == CompareOp::kLtE;
    ir::Value* apart = compare(wants_less ? Compare::kLt : Compare::kGt, rounded, real);
    if (wants_less) {  // no int is 2**63
        apart = e.emit("Or", {apart, e.emit("And", {compare(Compare::kEq, rounded, real),
                                                    compare(Compare::kGtE, real, most)})});
    }
    return as_number(e.emit("Or", {apart, e.emit("And", {tie, compare(how, number, whole)})}));
}

// Nothing: both are ints or floats, or DOUBLE holds the int.
std::optional<Object> exact_compare(Context& c, syntax::CompareOp op, const Object& a,
                                    const Object& b, Range range) {
    ElementType left = number_type(a), right = number_type(b);
    bool is_mixed = (left == ElementType::kDouble) != (right == ElementType::kDouble) &&
                    left != ElementType::kUndefined && right != ElementType::kUndefined &&
                    left != ElementType::kBool && right != ElementType::kBool;
    if (!is_mixed) {
        return std::nullopt;
    }
    const Object& number = left == ElementType::kDouble ? b : a;
    const Object& real = left == ElementType::kDouble ? a : b;
    op = left == ElementType::kDouble ? turned(op) : op;
    if (!number.is_graph_value()) {
        bool is_exact = static_cast<Int128>(number.as_double()) == number.as_whole();
        return is_exact ? std::nullopt
                        : std::optional(compare_with_limit(c, turned(op), real, number, range));
    }
    bool is_small = number.is_tensor() && is_small_int(c, number.value(), range);
    if (!real.is_graph_value()) {
        return std::fabs(real.as_double()) < kExactInts || is_small
                   ? std::nullopt
                   : std::optional(compare_with_limit(c, op, number, real, range));
    }
    if (is_small || number_type(number) == ElementType::kUint64) {
        return std::nullopt;
    }
    ir::Value* whole = as_value(c, number, range, ElementType::kInt64);
    ir::Value* value = as_value(c, real, range, ElementType::kDouble);
    return whole != nullptr && value != nullptr
               ? std::optional(compare_in_graph(c, op, whole, value, range))
               : Object::error();
}

}  // namespace

Object compare_pair(Context& c, syntax::CompareOp op, const Object& a, const Object& b, Range range,
                    Range a_range, Range b_range) {
    using syntax::CompareOp;
    if (a.is_error() || b.is_error()) {
        return Object::error();
    }
    bool wants_item = op == CompareOp::kIn || op == CompareOp::kNotIn;
    if (a.is_numbers() || (b.is_numbers() && !(wants_item && is_python_number(a)))) {
        c.report(kUnsupportedOperand, range,
                 "a comparison of a list of which the run decides how long it is")
            .with_help("compare its items, or tensors: `op.Equal`");
        return Object::error();
    }
    if ((op == CompareOp::kEq || op == CompareOp::kNotEq) && is_by_value(a) && is_by_value(b)) {
        return *compare_containers(c, op, a, b, range);
    }
    if (op == CompareOp::kIs || op == CompareOp::kIsNot || op == CompareOp::kEq ||
        op == CompareOp::kNotEq) {
        // No tensor is None: that it is an input left out is decided where the function is called.
        if (a.is_none() || b.is_none()) {
            const Object& other = a.is_none() ? b : a;
            const std::vector<const ir::Value*>& optional = c.unit->optional_inputs;
            if (other.is_tensor() &&
                std::find(optional.begin(), optional.end(), other.value()) != optional.end()) {
                c.report(kStaticRequired, range,
                         "whether this input is given is known only where the function is called")
                    .with_help("call this script from another one, or build a model");
                return Object::error();
            }
            bool same = a.is_none() && b.is_none();
            return Object::boolean(same == (op == CompareOp::kIs || op == CompareOp::kEq));
        }
    }
    if (op == CompareOp::kIn || op == CompareOp::kNotIn) {
        if (b.is_numbers()) {
            Object one = in_tensor(c, op == CompareOp::kIn, a, Object::tensor(b.value()), range,
                                   a_range, b_range);
            return one.is_tensor() ? Object::number(one.value()) : one;
        }
        if (b.is_tensor_like() && !is_sequence_value(b) && is_operand(a)) {
            return in_tensor(c, op == CompareOp::kIn, a, b, range, a_range, b_range);
        }
        if (!a.is_static() || (b.is_sequence() && !b.is_static())) {
            return in_items(c, op == CompareOp::kIn, a, b, range);
        }
        return static_compare(c, op, a, b, range);
    }
    if (std::optional<Object> known = array_compare(c, op, a, b, range)) {
        return *known;
    }
    bool are_ints = is_python_int(a) && is_python_int(b);
    if (std::optional<bool> settled = are_ints ? settled_compare(op, a, b) : std::nullopt) {
        return Object::boolean(*settled);
    }
    if (a.is_static() && b.is_static() && !a.is_tensor_like() && !b.is_tensor_like()) {
        return static_compare(c, op, a, b, range);
    }
    if (is_collection(a) || is_collection(b)) {
        if (std::optional<Object> outcome = compare_containers(c, op, a, b, range)) {
            return *outcome;
        }
    }
    static constexpr std::string_view kSymbols[] = {"==", "!=", "<",      "<=", ">",
                                                    ">=", "is", "is not", "in", "not in"};
    if (op >= CompareOp::kIs || !is_operand(a) || !is_operand(b)) {
        return refuse_operand(c, kSymbols[static_cast<size_t>(op)], a, b, range);
    }
    if (is_python_number(a) && is_python_number(b)) {
        if (std::optional<Object> exact = exact_compare(c, op, a, b, range)) {
            return *exact;
        }
    }
    ir::Value *left = nullptr, *right = nullptr;
    as_operands(c, a, b, a_range, b_range, left, right);
    if (left == nullptr || right == nullptr) {
        return Object::error();
    }
    Range ranges[] = {a_range, b_range};
    Emitter e(c, range, ranges);
    ir::Value* result = lowering::lower_compare(e, static_cast<lowering::Compare>(op), left, right);
    return is_python_number(a) && is_python_number(b) ? as_number(result) : as_object(result);
}

namespace {

// --- Truth values. Python asks a tensor for one where `and`, `or` or a chain of comparisons
// stands.

// A BOOL tensor of one element, to be combined with another one. Null, and a diagnostic, for
// others; where the shape is not known, Reshape looks at it when the graph runs.
ir::Value* truth_operand(Context& c, const Object& object, Range range, std::string_view word,
                         const std::string& repair) {
    ir::Value* value = as_value(c, object, range);
    if (value == nullptr) {
        return nullptr;
    }
    ElementType type = value->type.element_type();
    if (type != ElementType::kBool && type != ElementType::kUndefined) {
        c.report(kUnsupportedOperand, range,
                 fmt::format("{} on a tensor of {}, of which Python gives one operand", word,
                             name(type)))
            .with_help("compare it, as in `x != 0`, or choose with `op.Where`");
        return nullptr;
    }
    if (has_one_element(value->type)) {
        return value;
    }
    if (value->type.has_shape()) {
        c.report(kUnsupportedOperand, range,
                 fmt::format("{} on `{}`, whose elements have no one truth value", word,
                             type_text(value->type)))
            .with_help(repair);
        return nullptr;
    }
    Emitter e(c, range);
    return e.emit("Reshape", {value, e.int64s({})});
}

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

// `first and second`, or with `or`, where `first` is known only in the graph. `evaluate` gives the
// truth value of the second one, which Python does not look at when the first one decides: what may
// fail or has effects runs in a branch.
Object skippable(Context& c, bool is_and, ir::Value* first, Range range, uint32_t after,
                 const std::function<Object()>& evaluate) {
    size_t said = c.program.diagnostics.items().size(), changes = c.undo.size();
    int fresh = c.fresh_dims;
    Object second;
    Branch taken = run_branch(c, [&] {
        second = evaluate();
        return Jump::kNone;
    });
    if (second.is_error()) {
        return second;
    }
    bool is_plain = taken.changes.empty() && c.undo.size() == changes;
    for (const ir::Node& node : *taken.graph) {
        is_plain = is_plain && never_fails(node);
    }
    Emitter e(c, range);
    if (is_plain) {
        discard(*taken.graph);
        c.program.diagnostics.truncate(said);
        c.fresh_dims = fresh;
        second = evaluate();
        if (!second.is_tensor()) {
            return second.is_error() || second.as_bool() != is_and ? second : Object::tensor(first);
        }
        return as_object(e.emit(is_and ? "And" : "Or", {first, second.value()}));
    }
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

// The comparisons of a chain from number `i` on: `a < b < c` is `a < b and b < c`, with one b.
Object eval_chain(Context& c, const syntax::CompareExpr* expr, size_t i, const Object& left,
                  Range left_range) {
    Object right = eval(c, expr->rights[i]);
    Range right_range = expr->rights[i]->range;
    Range pair{left_range.begin, right_range.end};
    Object one = compare_pair(c, expr->ops[i], left, right, pair, left_range, right_range);
    if (one.is_error() || i + 1 == expr->ops.size()) {
        return one;
    }
    if (std::optional<bool> holds = truth(one)) {
        return *holds ? eval_chain(c, expr, i + 1, right, right_range) : one;
    }
    Range rest{right_range.begin, expr->range.end};
    std::string repair = fmt::format("write `op.And({}, {})`", c.source(pair), c.source(rest));
    constexpr std::string_view kWord = "a chain of comparisons";
    ir::Value* first = truth_operand(c, one, pair, kWord, repair);
    if (first == nullptr) {
        return Object::error();
    }
    return skippable(c, true, first, expr->range, expr->range.end, [&] {
        Object others = eval_chain(c, expr, i + 1, right, right_range);
        return others.is_tensor_like() ? as_object(truth_operand(c, others, rest, kWord, repair))
                                       : others;
    });
}

// `0 & x` in `x > 0 & x < 1`; null: no operand is such, or it stands in brackets.
const syntax::BinaryExpr* bare_bit_operator(Context& c, const syntax::CompareExpr* expr) {
    auto find = [&c](const Expr* operand) -> const syntax::BinaryExpr* {
        const auto* binary = syntax::maybe_as<syntax::BinaryExpr>(operand);
        bool is_bits = binary != nullptr && (binary->op == syntax::BinaryOp::kBitAnd ||
                                             binary->op == syntax::BinaryOp::kBitOr);
        std::string_view text = c.program.sources.text(c.tree().file);
        bool is_bracketed = operand->range.begin > 0 && text[operand->range.begin - 1] == '(';
        return is_bits && !is_bracketed ? binary : nullptr;
    };
    const syntax::BinaryExpr* found = find(expr->left);
    for (const Expr* right : expr->rights) {
        found = found != nullptr ? found : find(right);
    }
    return found;
}

// `&` and `|` bind more tightly than comparisons, as `and` and `or` do not: said in place of what
// has followed from it.
void report_bare_bits(Context& c, const syntax::CompareExpr* expr, const syntax::BinaryExpr* bits,
                      size_t said) {
    c.program.diagnostics.truncate(said);
    std::string_view sign = c.source(bits->op_range);
    bool is_middle = expr->ops.size() == 2 && expr->rights[0] == bits;
    std::string help = "put each comparison in brackets";
    if (is_middle) {
        Range first{expr->left->range.begin, bits->left->range.end};
        Range second{bits->right->range.begin, expr->range.end};
        help = fmt::format("write `({}) {} ({})`", c.source(first), sign, c.source(second));
    }
    c.report(kUnsupportedOperand, bits->range,
             fmt::format("`{}` binds more tightly than comparisons: this is `{}`, compared", sign,
                         c.source(bits->range)))
        .with_help(std::move(help));
}

Object eval_compare(Context& c, const syntax::CompareExpr* expr) {
    size_t said = c.program.diagnostics.items().size();
    size_t errors = c.program.diagnostics.error_count();
    Object left = eval(c, expr->left);
    Object result = eval_chain(c, expr, 0, left, expr->left->range);
    if (result.is_error() && c.program.diagnostics.error_count() != errors) {
        if (const syntax::BinaryExpr* bits = bare_bit_operator(c, expr)) {
            report_bare_bits(c, expr, bits, said);
        }
    }
    return result;
}

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

Object eval_unary(Context& c, const syntax::UnaryExpr* expr) {
    Object operand = eval(c, expr->operand);
    if (operand.is_error()) {
        return operand;
    }
    lowering::Unary op = static_cast<lowering::Unary>(expr->op);
    if (op == lowering::Unary::kNot) {
        return eval_not(c, expr, operand);
    }
    if (!operand.is_tensor_like()) {
        return static_unary(c, op, operand, expr->range);
    }
    if (std::optional<Object> known = array_unary(op, operand)) {
        return *known;
    }
    if (operand.is_shape_tensor()) {
        return refuse(c, expr->range, fmt::format("`{}` on a tuple", c.source(expr->range)),
                      "use the tensor `op.Shape(x)`");
    }
    Range ranges[] = {expr->operand->range};
    Emitter e(c, expr->range, ranges);
    if (is_python_number(operand)) {
        // Of a bool, the int; of an attribute or a float that FLOAT holds, as Python computes.
        ElementType type = number_type(operand);
        type = type == ElementType::kBool ? ElementType::kInt64 : type;
        ir::Value* value = as_typed_value(c, operand, type, expr->operand->range);
        return as_number(value != nullptr ? lowering::lower_unary(e, op, value) : nullptr)
            .either(gives_either(operand, operand));
    }
    ir::Value* value = as_value(c, operand, expr->operand->range);
    if (value == nullptr || op == lowering::Unary::kPlus) {  // a tensor of its own
        return as_object(value != nullptr ? e.emit("Identity", {value}) : nullptr)
            .either(operand.is_either());
    }
    return as_object(lowering::lower_unary(e, op, value)).either(operand.is_either());
}

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
    return skippable(c, expr->is_and, first, whole, b_range.end, [&] {
        Object b = eval(c, second);
        if (b.is_error() || b.is(ObjectKind::kBool)) {
            return b;
        }
        if (is_ambiguous(b)) {
            return refuse_elements(b);
        }
        if (!b.is_tensor_like()) {
            c.report(kUnsupportedOperand, b_range,
                     fmt::format("{} between a tensor and {}, of which Python gives one", word,
                                 kind_name(b)))
                .with_help("choose with `a if c else b`");
            return Object::error();
        }
        return as_object(truth_operand(c, b, b_range, word, repair));
    });
}

Object eval_bool_op(Context& c, const syntax::BoolOpExpr* expr) {
    Object all;
    for (size_t i = 0; i < expr->operands.size(); ++i) {
        all = i == 0 || !all.is_graph_value() ? eval(c, expr->operands[i])
                                              : eval_second(c, expr, i, all);
        if (all.is_error()) {
            return all;
        }
        std::optional<bool> so_far = all.is_graph_value() ? std::nullopt : truth(all);
        if (so_far && *so_far != expr->is_and) {
            return all;  // short circuit
        }
    }
    return all;
}

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

// Whether a call of it goes through its iterable argument before it returns.
bool uses_at_once(const Object& callee) {
    static constexpr std::string_view kBuiltins[] = {"all", "any",    "max",      "min",
                                                     "sum", "sorted", "math.prod"};
    return callee.is(ObjectKind::kPythonType) ||
           (callee.is(ObjectKind::kMethod) && callee.get<MethodObject>().name != kPartial) ||
           (callee.is(ObjectKind::kBuiltin) &&
            std::find(std::begin(kBuiltins), std::end(kBuiltins),
                      callee.get<BuiltinObject>().name) != std::end(kBuiltins));
}

// Where any() and all() stop.
std::optional<bool> end_of_use(const Object& callee) {
    bool is_any = callee.is(ObjectKind::kBuiltin) && callee.get<BuiltinObject>().name == "any";
    bool is_all = callee.is(ObjectKind::kBuiltin) && callee.get<BuiltinObject>().name == "all";
    return is_any || is_all ? std::optional(is_any) : std::nullopt;
}

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
                ? eval_comprehension(c, generator, true, end_of_use(callee))
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
        return Object::error();
    }
    if (is_operator) {
        return call_operator(c, base.get<OpsetObject>(), c.text(attribute->name), arguments,
                             wanted);
    }
    c.at.is_own_call = c.at.own_call == expr && !callee.is(ObjectKind::kBuiltin) &&
                       !callee.is(ObjectKind::kMethod) && !callee.is(ObjectKind::kPythonType);
    return call(c, callee, arguments, wanted);
}

// a + b + c + ... leans to the left as deep as it is long: its spine is walked, not recursed into.
Object eval_binary(Context& c, const syntax::BinaryExpr* expr) {
    std::vector<const syntax::BinaryExpr*> spine{expr};
    while (const auto* inner = syntax::maybe_as<syntax::BinaryExpr>(spine.back()->left)) {
        spine.push_back(inner);
    }
    Object left = eval(c, spine.back()->left);
    for (size_t i = spine.size(); i-- > 0;) {
        const syntax::BinaryExpr* node = spine[i];
        Object right = eval(c, node->right);
        left = binary(c, node->op, left, right, node->range, node->left->range, node->right->range);
    }
    return left;
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
        case ExprKind::kAwait:
        case ExprKind::kYield:
        case ExprKind::kYieldFrom:
            return unsupported(c, expr, "`await` or `yield`",
                               "a script is computed in one go: return its results");
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

// A name that the function binds somewhere is its own everywhere (Python reference 4.2.2): before
// that it has no value, also where the file has one.
Object unbound_local(Context& c, Symbol name, Range range) {
    const ScriptFunction& function = c.function();
    std::optional<Range> bound = last_assignment(function.definition->body, name);
    diagnostics::Diagnostic& reported = c.report(
        kUnboundName, range,
        fmt::format("`{}` has no value yet: it is a local name of `{}`, which binds it elsewhere",
                    c.text(name), function.name));
    if (bound) {
        reported.label(c.span(*bound), "bound here");
    }
    reported.with_help(
        fmt::format("bind `{}` before, or give one of the two another name", c.text(name)));
    return Object::error();
}

Object lookup(Context& c, Symbol name, Range range) {
    bool has_failed = false;  // to be bound, which has been reported
    for (const Scope* scope = c.at.scope.get(); scope != nullptr; scope = scope->enclosing.get()) {
        const Object* found = scope->find(name);
        if (found == nullptr || found->is_error()) {
            has_failed = has_failed || found != nullptr;
            continue;
        }
        if (c.program.unknowns->changed.empty() ? is_unknown(*found)
                                                : unknown_cause(c.program, *found) != nullptr) {
            report_unknown(c, *found, c.text(name), range);
            return Object::error();
        }
        if (found->is(ObjectKind::kUnbound) && found->get<Unbound>().reason.empty()) {
            return Object::error();  // its binding failed, and that has been reported
        }
        if (found->is(ObjectKind::kUnbound)) {
            report_unbound(c, found->get<Unbound>(), name, range);
            return Object::error();
        }
        if (!c.at.possibly_unbound.empty()) {
            warn_of_unbound(c, name, *found, range);
        }
        return *found;
    }
    if (is_local(c, c.function(), name)) {
        return has_failed ? Object::error() : unbound_local(c, name, range);
    }
    auto key = std::make_pair(&c.tree(), name.index);
    auto cached = c.globals.find(key);
    if (cached != c.globals.end() && !c.runs_file) {
        return cached->second;
    }
    std::optional<Object> global;
    if (c.function().environment != nullptr) {
        global = c.function().environment->lookup_symbol(name, c.text(name));
    }
    if (!global) {
        return unknown_name(c, name, range);
    }
    if (is_unknown(*global) || unknown_cause(c.program, *global) != nullptr) {
        report_unknown(c, *global, c.text(name), range);
        c.globals.emplace(key, Object::error());
        return Object::error();
    }
    if (c.runs_file) {
        return *global;
    }
    name_array(c, *global, c.text(name));
    c.globals.emplace(key, *global);
    return *global;
}

namespace {

// Whether the operator is one of Python's bools alone, or makes ints of them.
bool keeps_bools(lowering::Binary op) {
    return op == lowering::Binary::kBitAnd || op == lowering::Binary::kBitOr ||
           op == lowering::Binary::kBitXor;
}

// Said once in a function: NumPy and Python divide integers to a float, ONNX cuts the fraction off.
void warn_of_integer_division(Context& c, const ir::Value* a, const ir::Value* b, Range range) {
    bool integers = a != nullptr && b != nullptr && is_integer(a->type.element_type()) &&
                    is_integer(b->type.element_type());
    const auto& said = c.program.diagnostics.items();
    auto [place, is_new] = c.division_warnings.try_emplace(&c.function(), said.size());
    bool stands =
        !is_new && place->second < said.size() && said[place->second].kind == &kIntegerDivision;
    if (!integers || stands) {
        return;
    }
    place->second = said.size();
    c.report(kIntegerDivision, range, "`/` on integers cuts the fraction off, unlike in Python")
        .with_help("write `//` to round down, or cast to a float type first");
}

}  // namespace

namespace {

// A list or tuple beside a Python number, or a shape of unknown length beside either, as Python has
// them: sequences, no tensors. Nothing: other operands.
std::optional<Object> sequence_binary(Context& c, lowering::Binary op, const Object& a,
                                      const Object& b, Range range) {
    auto is_tuple_like = [](const Object& object) {
        return object.is_sequence() || object.is_shape_tensor();
    };
    bool has_run_number =
        (is_python_number(a) && a.is_graph_value()) || (is_python_number(b) && b.is_graph_value());
    bool has_shape = a.is_shape_tensor() || b.is_shape_tensor();
    bool are_python =
        (is_tuple_like(a) || is_python_number(a)) && (is_tuple_like(b) || is_python_number(b));
    if (!are_python ||
        (!has_shape && !(has_run_number && (is_tuple_like(a) || is_tuple_like(b))))) {
        return std::nullopt;
    }
    bool are_tuples = !is_python_number(a) && !is_python_number(b) && !a.is(ObjectKind::kList) &&
                      !b.is(ObjectKind::kList);
    if (op == lowering::Binary::kAdd && are_tuples) {
        std::vector<ir::Value*> parts{as_value(c, a, range, ElementType::kInt64),
                                      as_value(c, b, range, ElementType::kInt64)};
        ir::Value* joined = Emitter(c, range).emit_variadic(
            "Concat", parts, {ir::make_attribute("axis", int64_t{0})});
        return joined != nullptr ? Object::shape(joined) : Object::error();
    }
    std::string_view symbol = lowering::kBinarySymbols[static_cast<size_t>(op)];
    c.report(kStaticRequired, range,
             has_shape ? fmt::format("`{}` on `x.shape`, a tuple of unknown length", symbol)
                       : fmt::format("`{}` between {} and a number that is known only when the "
                                     "graph runs",
                                     symbol, kind_name(is_tuple_like(a) ? a : b)))
        .with_help(has_shape
                       ? "annotate `x` with its dimensions, or use the tensor `op.Shape(x)`"
                       : "for the elements, use a tensor: `op.Concat`, `op.Shape` or `op.Expand` "
                         "make one");
    return Object::error();
}

}  // namespace

namespace {

bool is_of_array(const Object& object) {
    return object.is(ObjectKind::kConstant) || object.is_array_part();
}

bool is_of_integers(const Object& object) {
    return object.is(ObjectKind::kConstant) ? is_integer(object.get<Tensor>().element_type())
           : is_python_number(object)
               ? number_type(object) != ElementType::kDouble
               : object.is_tensor() && is_integer(object.value()->type.element_type());
}

// As far as is certain: a size, the number of an iteration, a sum or product of such.
bool is_never_negative(const ir::Value* value, int depth = 0) {
    constexpr int kDeepest = 8;
    const ir::Node* maker = value->producer();
    if (value->constant) {
        std::optional<std::vector<int64_t>> known = to_int64s(*value->constant);
        return known &&
               std::all_of(known->begin(), known->end(), [](int64_t one) { return one >= 0; });
    }
    if (maker == nullptr) {  // of a Loop: the number of the iteration
        const ir::Graph* graph = value->graph();
        return graph != nullptr && graph->parent() != nullptr && graph->inputs[0] == value;
    }
    bool is_sum = ir::is_standard(maker, "Add") || ir::is_standard(maker, "Mul");
    return is_sum && depth < kDeepest && is_never_negative(maker->input(0), depth + 1) &&
           is_never_negative(maker->input(1), depth + 1);
}

bool is_never_negative(const Object& number) {
    return (number.is_tensor() && is_never_negative(number.value())) ||
           (is_python_int(number) &&
            settled_compare(syntax::CompareOp::kGtE, number, Object::integer(0)) == true);
}

// What an operator on these gives: NumPy's where arrays meet no tensor, Python's of its numbers.
Object as_operand_kind(ir::Value* result, const Object& a, const Object& b) {
    if (result == nullptr) {
        return Object::error();
    }
    if (is_python_number(a) && is_python_number(b)) {
        return Object::number(result);
    }
    bool of_arrays =
        (is_of_array(a) || is_python_number(a)) && (is_of_array(b) || is_python_number(b));
    auto is_open = [](const Object& one) {
        return one.is_tensor_or_number() || is_python_number(one);
    };
    return of_arrays                  ? Object::array_part(result)
           : is_open(a) && is_open(b) ? Object::tensor_or_number(result)
                                      : Object::tensor(result);
}

// `/` of integers where Python gives a float. False after a diagnostic.
bool divide_as_python(Context& c, const Object& a, const Object& b, Range range, Range a_range,
                      Range b_range, ir::Value*& left, ir::Value*& right) {
    auto is_open = [](const Object& one) { return one.is_tensor_or_number(); };
    if ((is_open(a) && (is_open(b) || is_python_number(b))) ||
        (is_open(b) && is_python_number(a))) {
        c.report(kUnsupportedOperand, range,
                 "`/` on integers of which only the run says whether they are a tensor's or "
                 "Python's: the quotients differ")
            .with_help("cast first, as in `op.Cast(x, to=FLOAT.dtype)`, or write `//`");
        return false;
    }
    Emitter e(c, range);
    auto as_double = [&](const Object& one, Range at) {
        ir::Value* value = as_value(c, one, at, ElementType::kDouble);
        return value != nullptr ? lowering::cast(e, value, ElementType::kDouble) : nullptr;
    };
    left = as_double(a, a_range);
    right = as_double(b, b_range);
    return left != nullptr && right != nullptr;
}

// Whether `/` is Python's or NumPy's, which make a float of integers, and not the operator Div.
bool divides_to_float(const Object& a, const Object& b) {
    auto is_other = [](const Object& one) { return is_of_array(one) || is_python_number(one); };
    bool of_arrays = (is_of_array(a) && is_other(b)) || (is_of_array(b) && is_other(a));
    bool is_open = (a.is_tensor_or_number() && (b.is_tensor_or_number() || is_python_number(b))) ||
                   (b.is_tensor_or_number() && is_python_number(a));
    return (of_arrays || is_open) && is_of_integers(a) && is_of_integers(b);
}

}  // namespace

namespace {

// Of a list of numbers that the graph makes: it is joined to a list, and beside a tensor it is one.
Object numbers_binary(Context& c, syntax::BinaryOp op, const Object& a, const Object& b,
                      Range range, Range a_range, Range b_range) {
    const Object& other = a.is_numbers() ? b : a;
    if (op == syntax::BinaryOp::kAdd && !other.is_tensor_like()) {
        return joined_numbers(c, a, b, range);
    }
    if (!other.is_tensor_like() || is_python_number(other)) {
        return refuse_operand(c, lowering::kBinarySymbols[static_cast<size_t>(op)], a, b, range);
    }
    ir::Value* tensor = as_value(c, other, a.is_numbers() ? b_range : a_range);
    ir::Value* list = tensor == nullptr
                          ? nullptr
                          : as_value(c, a.is_numbers() ? a : b, a.is_numbers() ? a_range : b_range,
                                     tensor->type.element_type(), tensor);
    if (list == nullptr) {
        return Object::error();
    }
    return a.is_numbers() ? binary(c, op, Object::tensor(list), b, range, a_range, b_range)
                          : binary(c, op, a, Object::tensor(list), range, a_range, b_range);
}

}  // namespace

Object binary(Context& c, syntax::BinaryOp op, const Object& a, const Object& b, Range range,
              Range a_range, Range b_range) {
    if (a.is_error() || b.is_error()) {
        return Object::error();
    }
    lowering::Binary operation = static_cast<lowering::Binary>(op);
    if (a.is_numbers() || b.is_numbers()) {
        return numbers_binary(c, op, a, b, range, a_range, b_range);
    }
    if (std::optional<Object> settled =
            is_python_int(a) && is_python_int(b) && (a.is_tensor() || b.is_tensor())
                ? settled_binary(operation, a, b)
                : sequence_binary(c, operation, a, b, range)) {
        return *settled;
    }
    if (std::optional<Object> known = array_binary(c, operation, a, b, range)) {
        return *known;
    }
    if (op == syntax::BinaryOp::kAdd && is_sequence_value(a) && b.is(ObjectKind::kList)) {
        return insert_items(c, a, b, range);
    }
    if (!a.is_tensor_like() && !b.is_tensor_like()) {
        if (is_static_operand(a) && is_static_operand(b)) {
            return static_binary(c, operation, a, b, range);
        }
    } else if (is_operand(a) && is_operand(b)) {
        ir::Value *left = nullptr, *right = nullptr;
        bool is_integer_base = a.is_tensor() && is_integer(a.value()->type.element_type());
        bool are_numbers = is_python_number(a) && is_python_number(b);
        ElementType of_bools =
            operation == lowering::Binary::kDiv ? ElementType::kDouble
            : are_numbers && common_type(a, b) == ElementType::kBool && !keeps_bools(operation)
                ? ElementType::kInt64
                : ElementType::kUndefined;
        if (operation == lowering::Binary::kPow && are_numbers && b.is_graph_value() &&
            is_of_integers(a) && is_of_integers(b) && !is_never_negative(b)) {
            return refuse(c, range, "an int to a power that may be negative, which gives a float",
                          "use a float, as in `2.0 ** n`");
        }
        if (are_numbers && of_bools != ElementType::kUndefined) {  // true division; True + True
            left = as_typed_value(c, a, of_bools, a_range);
            right = as_typed_value(c, b, of_bools, b_range);
        } else if (operation == lowering::Binary::kDiv && divides_to_float(a, b)) {
            if (!divide_as_python(c, a, b, range, a_range, b_range, left, right)) {
                return Object::error();
            }
        } else if (operation == lowering::Binary::kPow && is_integer_base && b.is_integer() &&
                   b.as_int() < 0) {
            return refuse(c, range, "an integer tensor to a negative power",
                          "cast it first, as in `op.Cast(x, to=FLOAT.dtype)`");
        } else if (operation == lowering::Binary::kPow && a.is_tensor() && b.is_number() &&
                   !a.is_number_tensor() && !(is_integer_base && b.is(ObjectKind::kFloat))) {
            // The exponent of Pow has a type of its own: x ** 2 and x ** 0.5 both mean what they
            // say.
            left = a.value();
            right = as_value(c, b, b_range);
        } else {
            as_operands(c, a, b, a_range, b_range, left, right);
        }
        if (left == nullptr || right == nullptr) {
            return Object::error();
        }
        if (operation == lowering::Binary::kDiv) {
            warn_of_integer_division(c, left, right, range);
        }
        Range ranges[] = {a_range, b_range};
        Emitter e(c, range, ranges);
        ir::Value* result = lowering::lower_binary(e, operation, left, right);
        bool is_either =
            gives_either(a, b) && !(are_numbers && operation == lowering::Binary::kDiv);
        return as_operand_kind(result, a, b).either(is_either);
    }
    return refuse_operand(c, lowering::kBinarySymbols[static_cast<size_t>(op)], a, b, range);
}

Object condition(Context& c, const Object& object, Range range) {
    if (object.is_error() || (truth(object) && !object.is_tensor_like())) {
        return object.is_error() ? object : Object::boolean(*truth(object));
    }
    if (object.is(ObjectKind::kConstant)) {
        if (std::optional<bool> holds = truth(object)) {
            return Object::boolean(*holds);
        }
    }
    if (std::optional<bool> holds = settled_truth(object)) {
        return Object::boolean(*holds);
    }
    if (object.is_numbers() || is_sequence_value(object)) {
        Emitter e(c, range);
        const char* counts = object.is_numbers() ? "Size" : "SequenceLength";
        return as_object(e.emit("Greater", {e.emit(counts, {object.value()}), e.int64_scalar(0)}));
    }
    if (!object.is_tensor_like() || object.is_shape_tensor()) {
        c.report(kUnsupportedOperand, range, fmt::format("{} as a condition", kind_name(object)))
            .with_help("compare it with something");
        return Object::error();
    }
    ir::Value* value = as_value(c, object, range);
    if (value == nullptr) {
        return Object::error();
    }
    if (value->type.kind() != TypeKind::kTensor && value->type.is_known()) {
        c.report(kUnsupportedOperand, range,
                 fmt::format("`{}` as a condition", type_text(value->type)))
            .with_help("use a tensor of BOOL");
        return Object::error();
    }
    if (value->type.has_shape() && !has_one_element(value->type)) {
        c.report(kAmbiguousTruthValue, range,
                 fmt::format("`{}` as a condition: its elements have no one truth value",
                             type_text(value->type)))
            .with_help("reduce it to one, as with `op.ReduceMax`, or choose with `op.Where`");
        return Object::error();
    }
    // What inference has computed is known: a branch that cannot run is not compiled.
    if (value->content != nullptr && value->content->elements.size() == 1 &&
        value->content->elements[0].is_static()) {
        return Object::boolean(value->content->elements[0].value() != 0);
    }
    ElementType type = value->type.element_type();
    if (type == ElementType::kBool || type == ElementType::kUndefined) {
        return Object::tensor(value);
    }
    // A number is true when it is not zero.
    return as_object(Emitter(c, range).emit(
        "Cast", {value}, {ir::make_attribute("to", static_cast<int64_t>(ElementType::kBool))}));
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
