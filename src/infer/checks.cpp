#include "infer/checks.h"

#include <algorithm>

#include <fmt/format.h>

#include "infer/diagnostics.h"

namespace sardonyx::infer {
namespace {

// "3" for one rank, "2 or more", "3 or 4", "2 to 5".
std::string range_text(int64_t low, int64_t high, int64_t unbounded) {
    if (low == high) {
        return fmt::format("{}", low);
    }
    if (high == unbounded) {
        return fmt::format("{} or more", low);
    }
    return fmt::format("{} {} {}", low, high == low + 1 ? "or" : "to", high);
}

int axis_of(const NodeContext& c, Place place) {
    return place.axis < 0 ? place.axis + c.input_rank(place.input) : place.axis;
}

size_t finding_count(const NodeContext& c) {
    return c.context.findings != nullptr ? c.context.findings->size() : 0;
}

// Says more in the help of the finding that has been made since there were `before`.
void help_with(NodeContext& c, size_t before, std::string_view help) {
    if (finding_count(c) > before) {
        c.context.findings->back().help = help;
    }
}

}  // namespace

const Shape* shape_of_rank(NodeContext& c, size_t input, int low, int high,
                           std::string_view layout) {
    size_t before = finding_count(c);
    if (c.check_rank(input, low, high)) {
        return c.input_shape(input);
    }
    if (!layout.empty()) {
        help_with(c, before, fmt::format("its dimensions are {}", layout));
    }
    return nullptr;
}

Dim dim_at(const Shape* shape, int axis) {
    if (shape == nullptr) {
        return {};
    }
    int rank = static_cast<int>(shape->size());
    int index = axis < 0 ? axis + rank : axis;
    return index >= 0 && index < rank ? (*shape)[index] : Dim();
}

Dim input_dim(const NodeContext& c, size_t input, int axis) {
    return dim_at(c.input_shape(input), axis);
}

Dim same_dim(NodeContext& c, Place a, Place b, std::string_view what) {
    int axis_a = axis_of(c, a);
    int axis_b = axis_of(c, b);
    if (axis_a < 0 || axis_b < 0) {
        return axis_a < 0 ? input_dim(c, b.input, b.axis) : input_dim(c, a.input, a.axis);
    }
    size_t before = finding_count(c);
    Dim dim = c.match_dims(a.input, axis_a, b.input, axis_b);
    help_with(c, before, fmt::format("both are {}", what));
    return dim;
}

Dim expect_dim(NodeContext& c, Place place, const Dim& expected, std::string_view reason) {
    Dim dim = input_dim(c, place.input, place.axis);
    if (dim.differs(expected)) {
        c.fail(
            kShapeMismatch,
            fmt::format("axis {} of {} is {}, and must be {}: {}", axis_of(c, place),
                        c.input_name(place.input), dim.to_string(), expected.to_string(), reason),
            static_cast<int>(place.input));
        return expected;
    }
    return known_dim(expected, dim);
}

std::optional<int64_t> int_in_range(NodeContext& c, std::string_view attribute, int64_t low,
                                    int64_t high) {
    std::optional<int64_t> value = c.attribute_int(attribute);
    if (value.has_value() && (*value < low || *value > high)) {
        c.fail_attribute(kInvalidValue, attribute,
                         fmt::format("`{}` of `{}` is {}, and must be {}", attribute,
                                     c.schema->name, *value, range_text(low, high, INT64_MAX)));
        return std::nullopt;
    }
    return value;
}

bool flag(NodeContext& c, std::string_view attribute) {
    return int_in_range(c, attribute, 0, 1).value_or(0) == 1;
}

std::optional<std::vector<int64_t>> ints_of_count(NodeContext& c, std::string_view attribute,
                                                  size_t count, int64_t otherwise, int64_t low,
                                                  int64_t high) {
    std::optional<std::vector<int64_t>> values = c.attribute_ints(attribute);
    if (!values.has_value()) {
        return c.has_attribute(attribute) ? std::nullopt
                                          : std::optional(std::vector<int64_t>(count, otherwise));
    }
    if (values->size() != count) {
        c.fail_attribute(kInvalidValue, attribute,
                         fmt::format("`{}` of `{}` has {} elements, and must have {}", attribute,
                                     c.schema->name, values->size(), count));
        return std::nullopt;
    }
    for (size_t i = 0; i < count; ++i) {
        int64_t value = (*values)[i];
        if (value < low || value > high) {
            c.fail_attribute(
                kInvalidValue, attribute,
                fmt::format("element {} of `{}` of `{}` is {}, and must be {}", i, attribute,
                            c.schema->name, value, range_text(low, high, INT64_MAX)));
            return std::nullopt;
        }
    }
    return values;
}

ElementType element_from_attribute(NodeContext& c, std::string_view attribute,
                                   ElementType otherwise, size_t output) {
    std::optional<int64_t> number = c.attribute_int(attribute);
    if (!number.has_value()) {
        return c.has_attribute(attribute) ? ElementType::kUndefined : otherwise;
    }
    if (*number == 0) {
        return otherwise;
    }
    ElementType element = element_type_from_number(*number);
    const ops::Parameter* parameter = c.schema->output(output);
    bool is_admitted = element != ElementType::kUndefined;
    if (is_admitted && parameter != nullptr) {
        const ops::TypeVariable& variable = c.schema->type_variables[parameter->type_variable];
        is_admitted = variable.types.admits(Type::tensor(element));
    }
    if (!is_admitted) {
        std::string seen = element == ElementType::kUndefined
                               ? fmt::format("{}, which is not an element type", *number)
                               : fmt::format("`{}`", name(element));
        c.fail_attribute(kUnsupportedType, attribute,
                         fmt::format("`{}` of `{}` is {}, and the output cannot be that", attribute,
                                     c.schema->name, seen),
                         "write a member of `TensorProto.DataType` that the output takes");
        return ElementType::kUndefined;
    }
    return element;
}

Dim input_scalar(const NodeContext& c, size_t input) {
    std::optional<std::vector<Dim>> elements = c.input_dims(input);
    return elements.has_value() && elements->size() == 1 ? elements->front() : Dim();
}

Dim scalar_at_least(NodeContext& c, size_t input, int64_t low) {
    Dim value = input_scalar(c, input);
    if (value.is_static() && value.value() < low) {
        c.fail(kInvalidValue,
               fmt::format("{} is {}, and must be {} or more", c.input_name(input), value.value(),
                           low),
               static_cast<int>(input));
        return {};
    }
    return value;
}

void check_scalar(NodeContext& c, size_t input) {
    const Shape* shape = c.input_shape(input);
    if (shape == nullptr || shape->empty() || (shape->size() == 1 && !(*shape)[0].differs(1))) {
        return;
    }
    c.fail(kRankMismatch,
           fmt::format("{} has shape `{}`, and must be a scalar", c.input_name(input),
                       to_text(*shape)),
           static_cast<int>(input));
}

std::optional<std::vector<int>> normalize_axes(NodeContext& c, const std::vector<int64_t>& axes,
                                               int rank, std::string_view attribute) {
    std::vector<int> normalized;
    for (int64_t axis : axes) {
        std::optional<int> one = c.normalize_axis(axis, rank, attribute);
        if (!one.has_value()) {
            return std::nullopt;
        }
        if (std::find(normalized.begin(), normalized.end(), *one) != normalized.end()) {
            c.fail_attribute(
                kInvalidValue, attribute,
                fmt::format("`{}` of `{}` names axis {} twice", attribute, c.schema->name, *one));
            return std::nullopt;
        }
        normalized.push_back(*one);
    }
    return normalized;
}

Dim exact_quotient(const Dim& dividend, int64_t divisor) {
    return divisor > 0 ? floor_div(dividend, divisor) : Dim();
}

}  // namespace sardonyx::infer
