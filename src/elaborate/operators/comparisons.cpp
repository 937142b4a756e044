// Comparisons, chains of them, `is` and `in`: static ones, those of structures, and those of the
// graph, where an int beside a float is compared exactly.

#include "elaborate/operators/comparisons.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "elaborate/emit/as_value.h"
#include "elaborate/emit/constants.h"
#include "elaborate/emit/emit.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/emit/operator_binding.h"
#include "elaborate/emit/opsets.h"
#include "elaborate/emit/sizes.h"
#include "elaborate/emit/values.h"
#include "elaborate/objects/array_math.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/statics.h"
#include "elaborate/operators/equality.h"
#include "elaborate/operators/lowered.h"
#include "elaborate/operators/operands.h"
#include "elaborate/operators/special_methods.h"
#include "ir/standard.h"
#include "lowering/operators.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

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
Object in_tensor(Context& c, bool is_in, const Operand& item, const Operand& all, Range range) {
    if (meets_numpys_int(item.object, all.object)) {
        return refuse_numpys_int(c, range);
    }
    ir::Value *value = nullptr, *tensor = nullptr;
    as_operands(c, item, all, value, tensor);
    if (value == nullptr || tensor == nullptr) {
        return Object::error();
    }
    Range ranges[] = {all.range, item.range};
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
        return compare_pair(c, wants_less ? CompareOp::kLtE : CompareOp::kGtE, {number, range},
                            {Object::real(wants_less ? below : above), range}, range);
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
    return compare_pair(c, op, {number, range},
                        {Object::integer(static_cast<int64_t>(below)), range}, range);
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
    auto how = lowered(op);
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

Object compare_pair(Context& c, syntax::CompareOp op, const Operand& first, const Operand& second,
                    Range range) {
    const Object &a = first.object, &b = second.object;
    using syntax::CompareOp;
    if (a.is_error() || b.is_error()) {
        return Object::error();
    }
    if (std::optional<Object> special = special_compare(c, op, a, b, range)) {
        return *special;
    }
    if (a.is(ObjectKind::kOpaque) != b.is(ObjectKind::kOpaque)) {
        Object left = data_instance_of(c, a, b), right = data_instance_of(c, b, a);
        if (!left.is(ObjectKind::kOpaque) && !right.is(ObjectKind::kOpaque)) {
            return compare_pair(c, op, {left, first.range}, {right, second.range}, range);
        }
    }
    if (float_meets_tensor(a, b)) {
        Object left = beside_tensors(a), right = beside_tensors(b);
        return compare_pair(c, op, {left, first.range}, {right, second.range}, range);
    }
    bool wants_item = op == CompareOp::kIn || op == CompareOp::kNotIn;
    if (wants_item && has_special(c, b, "__iter__")) {
        std::optional<std::vector<Object>> items = static_items(c, b);
        return items ? compare_pair(c, op, first, {Object::tuple(*items), second.range}, range)
                     : refuse(c, range, fmt::format("`in` of {}", kind_name(b)),
                              "compare what it gives, one by one");
    }
    if (a.is_numbers() || (b.is_numbers() && !(wants_item && is_python_number(a)))) {
        c.report(kUnsupportedOperand, range,
                 "a comparison of a list whose length is known only when the graph runs")
            .with_help("compare its items, or tensors: `op.Equal`");
        return Object::error();
    }
    if (op <= CompareOp::kGtE && are_ordered(a, b)) {
        return *compare_containers(c, op, a, b, range);
    }
    if ((op == CompareOp::kEq || op == CompareOp::kNotEq) && is_by_value(a) && is_by_value(b)) {
        return *compare_containers(c, op, a, b, range);
    }
    if (op == CompareOp::kIs || op == CompareOp::kIsNot || op == CompareOp::kEq ||
        op == CompareOp::kNotEq) {
        // No tensor is None: that it is an input left out is decided where the function is called.
        if (a.is_none() || b.is_none()) {
            const Object& other = a.is_none() ? b : a;
            bool asks_absence = op == CompareOp::kIs || op == CompareOp::kEq;
            if (is_optional_value(other)) {
                Emitter e(c, range);
                ir::Value* is_there = e.emit("OptionalHasElement", {other.value()});
                ir::Value* answer =
                    asks_absence && is_there != nullptr ? e.emit("Not", {is_there}) : is_there;
                return answer != nullptr ? Object::tensor(answer) : Object::error();
            }
            const std::vector<const ir::Value*>& optional = c.unit->optional_inputs;
            if (other.is_tensor() &&
                std::find(optional.begin(), optional.end(), other.value()) != optional.end()) {
                c.report(kStaticRequired, range,
                         "whether this input is given is known only where the function is called")
                    .with_help("call this script from another one, or build a model");
                return Object::error();
            }
            bool same = a.is_none() && b.is_none();
            return Object::boolean(same == asks_absence);
        }
    }
    if (op == CompareOp::kIn || op == CompareOp::kNotIn) {
        if (b.is_numbers()) {
            Object one = in_tensor(c, op == CompareOp::kIn, first,
                                   {Object::tensor(b.value()), second.range}, range);
            return one.is_tensor() ? Object::number(one.value()) : one;
        }
        if (b.is(ObjectKind::kOpset) && a.is(ObjectKind::kString)) {
            std::optional<bool> found =
                has_operator(c, compiled_opset(c, b.get<OpsetObject>()), a.text());
            if (found) {
                return Object::boolean(*found == (op == CompareOp::kIn));
            }
        }
        if (b.is_tensor_like() && !is_sequence_value(b) && is_operand(a)) {
            return in_tensor(c, op == CompareOp::kIn, first, second, range);
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
    if (meets_numpys_int(a, b)) {
        return refuse_numpys_int(c, range);
    }
    if (is_python_number(a) && is_python_number(b)) {
        if (std::optional<Object> exact = exact_compare(c, op, a, b, range)) {
            return *exact;
        }
    }
    ir::Value *left = nullptr, *right = nullptr;
    as_operands(c, first, second, left, right);
    if (left == nullptr || right == nullptr) {
        return Object::error();
    }
    Range ranges[] = {first.range, second.range};
    Emitter e(c, range, ranges);
    ir::Value* result = lowering::lower_compare(e, lowered(op), left, right);
    return is_python_number(a) && is_python_number(b) ? as_number(result) : as_object(result);
}

}  // namespace sardonyx::elaborate
