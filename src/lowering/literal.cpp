#include "lowering/literal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "types/integers.h"

namespace sardonyx::lowering {

namespace {

// The numbers as an array of T; one of them needs no heap.
template <typename T, typename Make, typename Use>
Result<Tensor> with_array(const std::vector<Literal::Number>& numbers, const Make& make,
                          const Use& use) {
    if (numbers.size() == 1) {
        T one = make(numbers[0]);
        return use(std::span<const T>(&one, 1));
    }
    std::vector<T> all;
    all.reserve(numbers.size());
    for (const Literal::Number& number : numbers) {
        all.push_back(make(number));
    }
    return use(std::span<const T>(all));
}

// A float that the type cannot hold but for its fraction.
bool loses_fraction(const Literal::Number& number, ElementType type) {
    return number.is_float && (is_integer(type) || type == ElementType::kBool) &&
           number.real != std::floor(number.real);
}

// BOOL has two numbers: 2 is not True, as `True == 2` is False.
bool is_truth_value(const Literal::Number& number) {
    return number.is_float ? number.real == 0 || number.real == 1
                           : number.integer == 0 || number.integer == 1;
}

// Why the tensor of this type would hold another number.
std::optional<LiteralProblem> lost(const Literal::Number& number, ElementType type) {
    if (loses_fraction(number, type)) {
        return LiteralProblem{
            fmt::format("`{}` would lose its fraction as {}", number.real, name(type)),
            "cast the tensor first, as in `op.Cast(x, to=FLOAT.dtype)`, or write an integer", true};
    }
    if (type == ElementType::kBool && !is_truth_value(number)) {
        return LiteralProblem{fmt::format("{} cannot hold {}", name(type), number.real),
                              "write True or False, or cast the tensor first, as in "
                              "`op.Cast(x, to=INT64.dtype)`",
                              true};
    }
    return std::nullopt;
}

}  // namespace

ElementType implied_type(LiteralKind kind) {
    switch (kind) {
        case LiteralKind::kBool:
            return ElementType::kBool;
        case LiteralKind::kFloat:
            return ElementType::kFloat;
        case LiteralKind::kText:
            return ElementType::kString;
        case LiteralKind::kNone:
        case LiteralKind::kInt:
            break;
    }
    return ElementType::kInt64;
}

std::optional<LiteralKind> joined_kind(LiteralKind a, LiteralKind b) {
    bool is_text = a == LiteralKind::kText || b == LiteralKind::kText;
    if (is_text && a != b && a != LiteralKind::kNone && b != LiteralKind::kNone) {
        return std::nullopt;
    }
    return std::max(a, b);
}

LiteralProblem list_problem(ListShape shape) {
    switch (shape) {
        case ListShape::kRowsDifferInLength:
            return {"a nested list whose rows differ in length", "make every row the same length"};
        case ListShape::kRowsDifferInDepth:
            return {"a nested list whose rows differ in depth",
                    "make every item a number, or every item a list"};
        default:
            return {fmt::format("lists nested more than {} deep, or too long", kDeepestList), ""};
    }
}

Result<Tensor> Literal::of_numbers(ElementType type) const {
    if (type == ElementType::kBool) {
        auto is_set = [](const Number& one) {
            return Int128{(one.is_float ? one.real != 0 : one.integer != 0) ? 1 : 0};
        };
        return with_array<Int128>(numbers_, is_set, [&](std::span<const Int128> values) {
            return tensor_from_integers(type, dims, values);
        });
    }
    if (number_kind_ == LiteralKind::kFloat) {
        return with_array<double>(
            numbers_, [](const Number& one) { return one.real; },
            [&](std::span<const double> values) {
                return tensor_from_doubles(type, dims, values);
            });
    }
    return with_array<Int128>(
        numbers_, [](const Number& one) { return one.integer; },
        [&](std::span<const Int128> values) { return tensor_from_integers(type, dims, values); });
}

std::optional<Tensor> Literal::make(ElementType type, LiteralProblem& problem) const {
    std::optional<LiteralKind> own = kind();
    if (!own) {
        problem = {"mixes numbers and text", "give numbers alone, or strings alone", false, true};
        return std::nullopt;
    }
    type = type == ElementType::kUndefined ? implied_type(*own) : type;
    bool to_text = type == ElementType::kString;
    if (to_text != (own == LiteralKind::kText) && own != LiteralKind::kNone) {
        problem = {fmt::format("where a tensor of {} is needed", name(type)),
                   to_text ? "give a string" : "give a number", false, true};
        return std::nullopt;
    }
    if (to_text) {
        return Tensor::of_strings(dims, texts_);
    }
    for (const Number& number : numbers_) {
        if (std::optional<LiteralProblem> other = lost(number, type)) {
            problem = std::move(*other);
            return std::nullopt;
        }
    }
    Result<Tensor> tensor = of_numbers(type);
    if (!tensor.ok()) {
        problem = {tensor.error().message, fmt::format("use a number that {} can hold", name(type)),
                   true};
        return std::nullopt;
    }
    return std::move(*tensor);
}

}  // namespace sardonyx::lowering
