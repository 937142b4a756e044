#include "infer/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "infer/diagnostics.h"

namespace sardonyx::infer {
namespace {

constexpr size_t kMaxArguments = 8;

// Whether a + b, a - b ... of the number needs more care than int64 gives: such ends of slices mean
// "to the end".
bool is_huge(const Dim& dim) {
    constexpr int64_t kHuge = int64_t{1} << 40;
    return dim.is_static() && (dim.value() >= kHuge || dim.value() <= -kHuge);
}

// An end of a slice as a position of the axis: negative ones count from the end, and all are
// clamped to [lowest, highest], which are (0, size), or (-1, size - 1) for a negative step.
Dim slice_position(const Dim& size, const Dim& position, const Dim& lowest, const Dim& highest) {
    if (is_huge(position)) {
        return position.value() > 0 ? highest : lowest;
    }
    if (position.is_at_least(0)) {
        return lesser_of(position, highest);
    }
    if ((Dim(-1) - position).is_at_least(0)) {
        return greater_of(size + position, lowest);
    }
    return {};
}

}  // namespace

bool may_have_contents(const NodeContext& c, size_t input) {
    ElementType element = c.input_element(input);
    if (!is_integer(element) && element != ElementType::kBool) {
        return false;
    }
    int rank = c.input_rank(input);
    return rank == 0 || rank == 1;
}

void fold_elementwise(NodeContext& c, size_t count, Fold fold) {
    if (count == 0 || count > kMaxArguments) {
        return;
    }
    bool is_any_known = false;
    for (size_t i = 0; i < count; ++i) {
        if (!may_have_contents(c, i)) {
            return;
        }
        const ir::Value* value = c.node.input(i);
        is_any_known = is_any_known || value->content != nullptr || value->constant.has_value();
    }
    if (!is_any_known) {
        return;
    }
    std::array<std::vector<Dim>, kMaxArguments> inputs;
    size_t length = 1;
    bool is_scalar = true;
    for (size_t i = 0; i < count; ++i) {
        std::optional<std::vector<Dim>> dims = c.input_dims(i);
        if (!dims.has_value()) {
            return;
        }
        inputs[i] = std::move(*dims);
        is_scalar = is_scalar && c.input_rank(i) == 0;
        length = inputs[i].size() == 1 ? length : inputs[i].size();
    }
    std::vector<Dim> result(length);
    std::array<Dim, kMaxArguments> arguments;
    for (size_t k = 0; k < length; ++k) {
        for (size_t i = 0; i < count; ++i) {
            if (inputs[i].size() != 1 && inputs[i].size() != length) {
                return;
            }
            arguments[i] = inputs[i].size() == 1 ? inputs[i][0] : inputs[i][k];
        }
        result[k] = fold(std::span<const Dim>(arguments.data(), count));
    }
    c.set_output_dims(0, is_scalar, std::move(result));
}

void pass_contents(NodeContext& c) {
    const ir::Value* output = c.node.output(0);
    if (output == nullptr || !may_have_contents(c, 0) || !output->type.has_shape() ||
        output->type.shape().size() > 1) {
        return;
    }
    if (std::optional<std::vector<Dim>> elements = c.input_dims(0)) {
        bool is_scalar = output->type.shape().empty();
        if (!is_scalar || elements->size() == 1) {
            c.set_output_dims(0, is_scalar, std::move(*elements));
        }
    }
}

std::optional<std::vector<int64_t>> ListArgument::ints() const {
    if (!values.has_value()) {
        return std::nullopt;
    }
    std::vector<int64_t> result;
    for (const Dim& value : *values) {
        if (!value.is_static()) {
            return std::nullopt;
        }
        result.push_back(value.value());
    }
    return result;
}

void ListArgument::fail(NodeContext& c, const diagnostics::Kind& kind, std::string message,
                        std::string help) const {
    if (input >= 0) {
        c.fail(kind, std::move(message), input, -1, std::move(help));
    } else {
        c.fail_attribute(kind, attribute, std::move(message), std::move(help));
    }
}

ListArgument list_argument(const NodeContext& c, std::string_view attribute, size_t input) {
    ListArgument result;
    if (c.schema->find_attribute(attribute) == nullptr) {
        result.input = static_cast<int>(input);
        result.is_given = c.has_input(input);
        result.values = c.input_dims(input);
        return result;
    }
    result.attribute = attribute;
    result.is_given = c.has_attribute(attribute);
    if (std::optional<std::vector<int64_t>> ints = c.attribute_ints(attribute)) {
        result.is_given = true;
        result.values.emplace(ints->begin(), ints->end());
    }
    return result;
}

std::optional<std::vector<int>> normalize_axes(NodeContext& c, const ListArgument& axes, int rank) {
    std::optional<std::vector<int64_t>> given = axes.ints();
    if (!given.has_value()) {
        return std::nullopt;
    }
    std::vector<int> result;
    for (int64_t axis : *given) {
        std::optional<int> normal = c.normalize_axis(axis, rank, axes.attribute, axes.input);
        if (!normal.has_value()) {
            return std::nullopt;
        }
        if (std::find(result.begin(), result.end(), *normal) != result.end()) {
            axes.fail(
                c, kInvalidValue,
                fmt::format("axis {} appears twice in the axes of `{}`", axis, c.node.op_type));
            return std::nullopt;
        }
        result.push_back(*normal);
    }
    return result;
}

Dim is_equal(const Dim& a, const Dim& b) {
    if (a.equals(b)) {
        return 1;
    }
    bool differ = a.differs(b) || (a - b).is_at_least(1) || (b - a).is_at_least(1);
    return differ ? Dim(0) : Dim();
}

Dim is_less(const Dim& a, const Dim& b) {
    if ((b - a).is_at_least(1)) {
        return 1;
    }
    return (a - b).is_at_least(0) ? Dim(0) : Dim();
}

Dim greater_of(const Dim& a, const Dim& b) {
    if ((a - b).is_at_least(0)) {
        return a;
    }
    return (b - a).is_at_least(0) ? b : max(a, b);
}

Dim lesser_of(const Dim& a, const Dim& b) {
    if ((a - b).is_at_least(0)) {
        return b;
    }
    return (b - a).is_at_least(0) ? a : min(a, b);
}

Dim truncated_div(const Dim& a, const Dim& b) {
    if (a.is_static() && b.is_static()) {
        bool is_defined = b.value() != 0 && !(a.value() == INT64_MIN && b.value() == -1);
        return is_defined ? Dim(a.value() / b.value()) : Dim();
    }
    return a.is_at_least(0) && b.is_at_least(1) ? floor_div(a, b) : Dim();
}

Dim quotient_of_sizes(const Dim& dividend, const Dim& divisor) {
    // The algebra divides by what is surely not 0: count every symbol from 1 for the while.
    auto shift = [](const Dim& dim, int64_t by) {
        return dim.substitute(
            [by](std::string_view symbol) { return Dim::symbol(symbol) + Dim(by); });
    };
    Dim shifted_dividend = shift(dividend, 1);
    Dim shifted_divisor = shift(divisor, 1);
    Dim quotient = floor_div(shifted_dividend, shifted_divisor);
    bool is_exact = (quotient * shifted_divisor).equals(shifted_dividend);
    return is_exact ? shift(quotient, -1) : Dim();
}

SliceRange slice_range(const Dim& size, const Dim& start, const Dim& end, const Dim& step) {
    if (!step.is_static() || step.value() == 0) {
        return {};
    }
    if (step.value() > 0) {
        Dim first = slice_position(size, start, 0, size);
        Dim last = slice_position(size, end, 0, size);
        Dim length = greater_of(last - first, 0);
        return {first, is_huge(step) ? lesser_of(length, 1) : ceil_div(length, step)};
    }
    // Backwards, a start before the first element is the first element. -1 is one only where there
    // is none at all, and stays a plain size - 1.
    bool is_last = start.is_static() && start.value() == -1;
    Dim first = slice_position(size, start, is_last ? -1 : 0, size - 1);
    Dim last = slice_position(size, end, -1, size - 1);
    Dim length = lesser_of(greater_of(first - last, 0), size);
    return {first, is_huge(step) ? lesser_of(length, 1) : ceil_div(length, -step)};
}

}  // namespace sardonyx::infer
