// Operators that work element by element: mathematics, comparisons, logic, bits, casts.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "infer/contents.h"
#include "infer/diagnostics.h"
#include "infer/operators.h"

namespace sardonyx::infer {
namespace {

using Dims2 = std::span<const Dim>;

Dim fold_add(Dims2 a) {
    return a[0] + a[1];
}
Dim fold_sub(Dims2 a) {
    return a[0] - a[1];
}
Dim fold_mul(Dims2 a) {
    return product(a);
}
Dim fold_div(Dims2 a) {
    return truncated_div(a[0], a[1]);
}
Dim fold_floor_mod(Dims2 a) {
    return a[1].is_static() && a[1].value() == 0 ? Dim() : modulo(a[0], a[1]);
}
Dim fold_truncated_mod(Dims2 a) {
    return a[0] - truncated_div(a[0], a[1]) * a[1];
}
Dim fold_max(Dims2 a) {
    return std::accumulate(a.begin() + 1, a.end(), a[0], greater_of);
}
Dim fold_min(Dims2 a) {
    return std::accumulate(a.begin() + 1, a.end(), a[0], lesser_of);
}
Dim fold_sum(Dims2 a) {
    return std::accumulate(a.begin() + 1, a.end(), a[0],
                           [](const Dim& x, const Dim& y) { return x + y; });
}
Dim fold_equal(Dims2 a) {
    return is_equal(a[0], a[1]);
}
Dim fold_less(Dims2 a) {
    return is_less(a[0], a[1]);
}
Dim fold_greater(Dims2 a) {
    return is_less(a[1], a[0]);
}
Dim fold_not(Dims2 a) {
    return Dim(1) - a[0];
}
Dim fold_less_or_equal(Dims2 a) {
    return Dim(1) - is_less(a[1], a[0]);
}
Dim fold_greater_or_equal(Dims2 a) {
    return Dim(1) - is_less(a[0], a[1]);
}
Dim fold_and(Dims2 a) {
    return product(a);
}
Dim fold_or(Dims2 a) {
    Dim none = product(std::vector<Dim>{Dim(1) - a[0], Dim(1) - a[1]});
    return Dim(1) - none;
}
Dim fold_xor(Dims2 a) {
    return a[0].is_static() && a[1].is_static() ? Dim(a[0].value() ^ a[1].value()) : Dim();
}
Dim fold_neg(Dims2 a) {
    return -a[0];
}
Dim fold_abs(Dims2 a) {
    if (a[0].is_at_least(0)) {
        return a[0];
    }
    return (-a[0]).is_at_least(0) ? -a[0] : Dim();
}
Dim fold_sign(Dims2 a) {
    if (a[0].is_at_least(1)) {
        return 1;
    }
    if ((-a[0]).is_at_least(1)) {
        return -1;
    }
    return a[0].is_static() ? Dim(0) : Dim();
}
Dim fold_relu(Dims2 a) {
    return greater_of(a[0], 0);
}
Dim fold_identity(Dims2 a) {
    return a[0];
}
Dim fold_to_bool(Dims2 a) {
    return Dim(1) - is_equal(a[0], 0);
}
Dim fold_pow(Dims2 a) {
    constexpr int64_t kMaxExponent = 64;
    if (!a[1].is_static() || a[1].value() < 0 || a[1].value() > kMaxExponent) {
        return {};
    }
    Dim result = 1;
    for (int64_t i = 0; i < a[1].value(); ++i) {
        result = result * a[0];
    }
    return result;
}
Dim fold_where(Dims2 a) {
    if (a[0].is_static()) {
        return a[0].value() != 0 ? a[1] : a[2];
    }
    return a[1].equals(a[2]) ? a[1] : Dim();
}

// Before opset 7, B only stretched to A's shape where `broadcast` was set (Operators-1, Add).
std::optional<Shape> legacy_broadcast(NodeContext& c) {
    const Shape* a = c.input_shape(0);
    const Shape* b = c.input_shape(1);
    bool must_be_equal = c.attribute_int("broadcast") == 0 && !c.is_attribute_unbound("broadcast");
    if (must_be_equal && a != nullptr && b != nullptr && c.check_rank(1, c.input_rank(0))) {
        for (size_t axis = 0; axis < a->size(); ++axis) {
            c.match_dims(0, static_cast<int>(axis), 1, static_cast<int>(axis));
        }
    }
    return a != nullptr ? std::optional(*a) : std::nullopt;
}

std::optional<Shape> binary_shape(NodeContext& c) {
    constexpr int kFirstBroadcastingVersion = 7;
    return c.version() < kFirstBroadcastingVersion ? legacy_broadcast(c) : c.broadcast({0, 1});
}

void infer_binary(NodeContext& c, Fold fold) {
    c.set_output_shape(0, binary_shape(c));
    fold_elementwise(c, 2, fold);
}

void infer_unary_fold(NodeContext& c, Fold fold) {
    c.pass_shape();
    fold_elementwise(c, 1, fold);
}

// Sum, Max, Min, Mean: any number of inputs, broadcast since opset 8 and of one shape before.
void infer_variadic(NodeContext& c, Fold fold) {
    constexpr int kFirstBroadcastingVersion = 8;
    size_t count = c.node.input_count();
    std::vector<size_t> inputs(count);
    std::iota(inputs.begin(), inputs.end(), size_t{0});
    std::optional<Shape> shape;
    if (c.version() >= kFirstBroadcastingVersion) {
        shape = c.broadcast(std::span<const size_t>(inputs));
    } else {
        for (size_t i = 0; i < count && !shape.has_value(); ++i) {
            const Shape* known = c.input_shape(i);
            shape = known != nullptr ? std::optional(*known) : std::nullopt;
        }
    }
    c.set_output_shape(0, std::move(shape));
    if (fold != nullptr) {
        fold_elementwise(c, count, fold);
    }
}

// The contents of an integer cast: same numbers, where the target can hold them.
void cast_contents(NodeContext& c, ElementType target) {
    if (target == ElementType::kBool) {
        fold_elementwise(c, 1, fold_to_bool);
        return;
    }
    if (may_have_contents(c, 0)) {
        fold_elementwise(c, 1, fold_identity);
        return;
    }
    const Tensor* constant = c.input_constant(0);
    if (constant == nullptr || !is_integer(target) || !is_floating(constant->element_type()) ||
        constant->rank() > 1) {
        return;
    }
    constexpr double kExact = 9007199254740992.0;  // 2^53
    std::optional<std::vector<double>> numbers = to_doubles(*constant, kMaxContent);
    std::vector<Dim> elements;
    for (size_t i = 0; numbers.has_value() && i < numbers->size(); ++i) {
        double number = (*numbers)[i];
        bool is_exact = number > -kExact && number < kExact;
        elements.push_back(is_exact ? Dim(static_cast<int64_t>(number)) : Dim());
    }
    if (numbers.has_value()) {
        c.set_output_dims(0, constant->rank() == 0, std::move(elements));
    }
}

// The element type that attribute `to` names: a number, in version 1 of Cast a string.
ElementType target_type(NodeContext& c) {
    std::optional<std::string_view> text = c.attribute_string("to");
    std::optional<int64_t> number = c.attribute_int("to");
    if (!text.has_value() && !number.has_value()) {
        return ElementType::kUndefined;
    }
    ElementType target =
        text.has_value() ? element_type_from_name(*text) : element_type_from_number(*number);
    const ops::Parameter* output = c.schema->output(0);
    const ops::TypeSet& admitted = c.schema->type_variables[output->type_variable].types;
    if (target == ElementType::kUndefined || !admitted.admits(Type::tensor(target))) {
        c.fail_attribute(
            kInvalidValue, "to",
            text.has_value()
                ? fmt::format("`{}` cannot give type `{}`", c.node.op_type, *text)
                : fmt::format("`{}` cannot give type {}", c.node.op_type,
                              target != ElementType::kUndefined ? std::string(name(target))
                                                                : std::to_string(*number)));
    }
    return target;
}

}  // namespace

void infer_unary(NodeContext& c) {
    c.pass_shape();
}
void infer_neg(NodeContext& c) {
    infer_unary_fold(c, fold_neg);
}
void infer_abs(NodeContext& c) {
    infer_unary_fold(c, fold_abs);
}
void infer_sign(NodeContext& c) {
    infer_unary_fold(c, fold_sign);
}
void infer_relu(NodeContext& c) {
    infer_unary_fold(c, fold_relu);
}
void infer_not(NodeContext& c) {
    infer_unary_fold(c, fold_not);
}
void infer_add(NodeContext& c) {
    infer_binary(c, fold_add);
}
void infer_sub(NodeContext& c) {
    infer_binary(c, fold_sub);
}
void infer_mul(NodeContext& c) {
    infer_binary(c, fold_mul);
}
void infer_div(NodeContext& c) {
    infer_binary(c, fold_div);
}
void infer_mod(NodeContext& c) {
    bool is_truncated = c.attribute_int("fmod") != 0 || c.is_attribute_unbound("fmod");
    infer_binary(c, is_truncated ? fold_truncated_mod : fold_floor_mod);
}
void infer_pow(NodeContext& c) {
    infer_binary(c, fold_pow);
}
void infer_equal(NodeContext& c) {
    infer_binary(c, fold_equal);
}
void infer_less(NodeContext& c) {
    infer_binary(c, fold_less);
}
void infer_greater(NodeContext& c) {
    infer_binary(c, fold_greater);
}
void infer_less_or_equal(NodeContext& c) {
    infer_binary(c, fold_less_or_equal);
}
void infer_greater_or_equal(NodeContext& c) {
    infer_binary(c, fold_greater_or_equal);
}
void infer_and(NodeContext& c) {
    infer_binary(c, fold_and);
}
void infer_or(NodeContext& c) {
    infer_binary(c, fold_or);
}
void infer_xor(NodeContext& c) {
    infer_binary(c, fold_xor);
}
void infer_broadcast(NodeContext& c) {
    c.set_output_shape(0, binary_shape(c));
}
void infer_max(NodeContext& c) {
    infer_variadic(c, fold_max);
}
void infer_min(NodeContext& c) {
    infer_variadic(c, fold_min);
}
void infer_sum(NodeContext& c) {
    infer_variadic(c, fold_sum);
}
void infer_mean(NodeContext& c) {
    infer_variadic(c, nullptr);
}

// Operators, Clip: `min` and `max` are scalars, inputs since opset 11.
void infer_clip(NodeContext& c) {
    c.pass_shape();
    if (c.node.input_count() > 1) {
        for (size_t i = 1; i <= 2; ++i) {
            c.check_rank(i, 0, 1);
        }
    }
    if (!may_have_contents(c, 0)) {
        return;
    }
    std::optional<std::vector<Dim>> elements = c.input_dims(0);
    std::optional<std::vector<Dim>> least = c.input_dims(1);
    std::optional<std::vector<Dim>> most = c.input_dims(2);
    if (!elements.has_value()) {
        return;
    }
    for (Dim& element : *elements) {
        if (c.has_input(1)) {
            bool is_known = least.has_value() && least->size() == 1;
            element = is_known ? greater_of(element, least->front()) : Dim();
        }
        if (c.has_input(2)) {
            bool is_known = most.has_value() && most->size() == 1;
            element = is_known ? lesser_of(element, most->front()) : Dim();
        }
    }
    c.set_output_dims(0, c.input_rank(0) == 0, std::move(*elements));
}

// The slope stretches to the shape of X, never the other way (Operators, PRelu).
void infer_prelu(NodeContext& c) {
    constexpr int kFirstBroadcastingVersion = 7;
    if (c.version() >= kFirstBroadcastingVersion) {
        c.broadcast({0, 1});
    }
    c.pass_shape();
}

void infer_where(NodeContext& c) {
    c.set_output_shape(0, c.broadcast({0, 1, 2}));
    fold_elementwise(c, 3, fold_where);
}

void infer_cast(NodeContext& c) {
    ElementType target = target_type(c);
    c.set_output(0, target, c.input_type(0).maybe_shape());
    cast_contents(c, target);
}

// A literal that takes a type which is known only now must be what it was, as one that is written
// beside a tensor of that type.
void check_implied(NodeContext& c, ElementType target) {
    const Tensor* literal = c.input_constant(0);
    bool fits = is_floating(target) || !is_floating(c.input_element(0)) || literal != nullptr;
    if (literal != nullptr && target == ElementType::kBool) {
        std::optional<std::vector<double>> numbers = to_doubles(*literal);
        fits = fits && (!numbers || std::all_of(numbers->begin(), numbers->end(),
                                                [](double one) { return one == 0 || one == 1; }));
    }
    if (literal != nullptr && is_integer(target)) {
        std::optional<std::vector<double>> reals = to_doubles(*literal);
        std::optional<std::vector<int64_t>> integers = to_int64s(*literal);
        fits = fits &&
               (integers ? tensor_from_int64s(target, literal->dims(), *integers).ok()
                         : !reals || tensor_from_doubles(target, literal->dims(), *reals).ok());
    }
    if (!fits) {
        c.fail(kTypeMismatch, fmt::format("a number that {} cannot hold", name(target)));
    }
}

void infer_cast_like(NodeContext& c) {
    ElementType target = c.input_element(1);
    // One that stands where its operand was made was not written: the compiler casts a literal.
    const ir::Value* operand = c.node.input(0);
    const ir::Node* maker = operand != nullptr ? operand->producer() : nullptr;
    bool is_implied = maker != nullptr && maker->span.valid() && maker->span == c.node.span;
    if (is_implied && target != ElementType::kUndefined) {
        check_implied(c, target);
    }
    c.set_output(0, target, c.input_type(0).maybe_shape());
    cast_contents(c, target);
}

void infer_bit_cast(NodeContext& c) {
    ElementType target = target_type(c);
    ElementType source = c.input_element(0);
    if (target != ElementType::kUndefined && source != ElementType::kUndefined &&
        info(target).bits != info(source).bits) {
        c.fail_attribute(
            kInvalidValue, "to",
            fmt::format("`BitCast` from {} ({} bits) to {} ({} bits) changes the width",
                        name(source), info(source).bits, name(target), info(target).bits),
            "both types must have the same number of bits");
    }
    c.set_output(0, target, c.input_type(0).maybe_shape());
}

// Both inputs have one shape (Operators, SwiGLU).
void infer_swiglu(NodeContext& c) {
    const Shape* a = c.input_shape(0);
    if (a == nullptr || !c.check_rank(1, c.input_rank(0))) {
        c.pass_shape(a == nullptr ? 1 : 0);
        return;
    }
    Shape shape;
    for (int axis = 0; axis < c.input_rank(0); ++axis) {
        shape.push_back(c.input_rank(1) < 0 ? (*a)[axis] : c.match_dims(0, axis, 1, axis));
    }
    c.set_output_shape(0, std::move(shape));
}

}  // namespace sardonyx::infer
