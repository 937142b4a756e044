// Arithmetic: which meaning an operator has, by what its operands are: Python's, NumPy's or ONNX's.

#include "elaborate/operators/arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "elaborate/emit/as_value.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/emit/sequences.h"
#include "elaborate/emit/sizes.h"
#include "elaborate/emit/values.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/number_arithmetic.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/unknowns.h"
#include "elaborate/operators/lowered.h"
#include "elaborate/operators/operands.h"
#include "elaborate/operators/special_methods.h"
#include "ir/standard.h"
#include "lowering/operators.h"

namespace sardonyx::elaborate {

using syntax::Range;

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
    c.report(kIntegerDivision, range, "`/` on integers truncates, unlike in Python")
        .with_help("write `//` to round down, or cast to a float type first");
}

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
bool divide_as_python(Context& c, const Operand& first, const Operand& second, Range range,
                      ir::Value*& left, ir::Value*& right) {
    const Object &a = first.object, &b = second.object;
    Range a_range = first.range, b_range = second.range;
    auto is_open = [](const Object& one) { return one.is_tensor_or_number(); };
    if ((is_open(a) && (is_open(b) || is_python_number(b))) ||
        (is_open(b) && is_python_number(a))) {
        c.report(kUnsupportedOperand, range,
                 "`/` on integers that belong to a tensor or to Python, which is known only when "
                 "the graph runs: "
                 "the quotients differ")
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

// Whether Python raises an exception whatever the first number is.
bool divides_by_zero(lowering::Binary op, const Object& a, const Object& b) {
    bool divides = op == lowering::Binary::kDiv || op == lowering::Binary::kFloorDiv ||
                   op == lowering::Binary::kMod;
    return divides && is_python_number(a) && is_python_number(b) && b.is_static() &&
           truth(b) == false;
}

// Whether a shift or power is of a number that Python would give the tensor's type, or refuse, as
// its value says: operators of two types, which ONNX does not refuse.
bool meets_number_of_run(lowering::Binary op, const Object& a, const Object& b) {
    auto is_float = [](const Object& one) {
        return one.is_tensor() && is_python_number(one) &&
               is_floating(one.value()->type.element_type());
    };
    bool is_shift_by_bools = a.is_tensor() && is_python_number(a) && b.is_tensor() &&
                             !is_python_number(b) &&
                             b.value()->type.element_type() == ElementType::kBool;
    bool shifts = op == lowering::Binary::kLeftShift || op == lowering::Binary::kRightShift;
    bool is_of_tensor = b.is_tensor() && !is_python_number(b) && is_of_integers(b);
    return (shifts && (is_float(b) || is_shift_by_bools)) ||
           (op == lowering::Binary::kPow && is_float(a) && is_of_tensor);
}

// Of a list of numbers that the graph makes: it is joined to a list, and beside a tensor it is one.
Object numbers_binary(Context& c, syntax::BinaryOp op, const Operand& first, const Operand& second,
                      Range range) {
    const Object &a = first.object, &b = second.object;
    Range a_range = first.range, b_range = second.range;
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
    return a.is_numbers() ? binary(c, op, {Object::tensor(list), a_range}, second, range)
                          : binary(c, op, first, {Object::tensor(list), b_range}, range);
}

// Whether a float of NumPy stands beside what the run makes of arrays; to tensors it is a literal.
bool meets_numpys_float(const Object& a, const Object& b) {
    auto is_float = [](const Object& one) {
        return one.is(ObjectKind::kFloat) && one.shown_as() == ShownAs::kNumpy;
    };
    auto is_other = [](const Object& one) {
        return one.is_array_part() && one.value()->type.element_type() != ElementType::kDouble;
    };
    return (is_float(a) && is_other(b)) || (is_float(b) && is_other(a));
}

}  // namespace

Object binary(Context& c, syntax::BinaryOp op, const Operand& first, const Operand& second,
              Range range) {
    const Object &a = first.object, &b = second.object;
    Range a_range = first.range, b_range = second.range;
    if (a.is_error() || b.is_error()) {
        return Object::error();
    }
    if (std::optional<Object> special = special_binary(c, op, a, b, range)) {
        return *special;
    }
    if (float_meets_tensor(a, b)) {
        Object left = beside_tensors(a), right = beside_tensors(b);
        return binary(c, op, {left, a_range}, {right, b_range}, range);
    }
    lowering::Binary operation = lowered(op);
    if (op == syntax::BinaryOp::kMod && a.is(ObjectKind::kString) && !b.is_static()) {
        c.report(kStaticRequired, b_range,
                 "a tensor in a `%` format: its value is known only when the graph runs")
            .with_help("format only static values, such as numbers and `x.shape[0]`");
        return Object::error();
    }
    if (a.is_numbers() || b.is_numbers()) {
        return numbers_binary(c, op, first, second, range);
    }
    if (std::optional<Object> settled =
            is_python_int(a) && is_python_int(b) && (a.is_tensor() || b.is_tensor())
                ? settled_binary(operation, a, b)
                : sequence_binary(c, operation, a, b, range)) {
        return *settled;
    }
    if (std::optional<Object> known = array_binary(c, operation, a, b, range)) {
        return as_numpys_number(*known);
    }
    if (op == syntax::BinaryOp::kAdd && is_sequence_value(a) && b.is(ObjectKind::kList)) {
        return insert_items(c, a, b, range);
    }
    if (!a.is_tensor_like() && !b.is_tensor_like()) {
        if (is_static_operand(a) && is_static_operand(b)) {
            return static_binary(c, operation, a, b, range);
        }
    } else if (is_operand(a) && is_operand(b)) {
        if (divides_by_zero(operation, a, b)) {
            return division_by_zero(c, range);
        }
        if (meets_number_of_run(operation, a, b)) {
            auto shown = [](const Object& one) {
                return is_python_number(one) ? fmt::format("a number of {}", name(number_type(one)))
                       : one.is_tensor()
                           ? fmt::format("a tensor of {}", name(one.value()->type.element_type()))
                           : std::string(kind_name(one));
            };
            return refuse(c, range,
                          fmt::format("`{}` between {} and {}",
                                      lowering::kBinarySymbols[static_cast<size_t>(operation)],
                                      shown(a), shown(b)),
                          "make a float an int, as in `int(v)`, or cast the tensor first, as in "
                          "`op.Cast(x, to=FLOAT.dtype)`");
        }
        if (operation == lowering::Binary::kPow && is_numpys_int(b)) {
            return binary(c, op, first, {as_array_scalar(b), b_range}, range);
        }
        if (meets_numpys_int(a, b)) {
            return refuse_numpys_int(c, range);
        }
        if (meets_numpys_float(a, b)) {
            return refuse(c, range,
                          "a float of NumPy, which is DOUBLE, beside an array that is not",
                          "write `float(...)` around it, or give the array the type DOUBLE");
        }
        ir::Value *left = nullptr, *right = nullptr;
        bool is_integer_base = a.is_tensor() && is_integer(a.value()->type.element_type());
        bool are_numbers = is_python_number(a) && is_python_number(b);
        bool is_exponent =
            b.is_number() || (is_python_number(b) && number_type(b) == ElementType::kBool);
        // n ** -1 of ints is a float to Python.
        bool is_inverse = operation == lowering::Binary::kPow && are_numbers && is_integer_base &&
                          b.is_integer() && b.as_int() < 0;
        ElementType of_bools =
            operation == lowering::Binary::kDiv || is_inverse ? ElementType::kDouble
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
            if (!divide_as_python(c, first, second, range, left, right)) {
                return Object::error();
            }
        } else if (operation == lowering::Binary::kPow && is_integer_base && b.is_integer() &&
                   b.as_int() < 0) {
            return refuse(c, range, std::string(lowering::kNegativePower),
                          std::string(lowering::kNegativePowerHelp));
        } else if (operation == lowering::Binary::kPow && a.is_tensor() && is_exponent &&
                   !a.is_number_tensor() && !(is_integer_base && b.is(ObjectKind::kFloat))) {
            // The exponent of Pow has a type of its own: x ** 2 and x ** 0.5 both mean what they
            // say.
            left = a.value();
            right = as_value(c, b, b_range);
        } else {
            as_operands(c, first, second, left, right);
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
        bool is_either = gives_either(a, b) &&
                         !(are_numbers && (operation == lowering::Binary::kDiv || is_inverse));
        return as_operand_kind(result, a, b).either(is_either);
    }
    return refuse_operand(c, lowering::kBinarySymbols[static_cast<size_t>(op)], a, b, range);
}

}  // namespace sardonyx::elaborate
