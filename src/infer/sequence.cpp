// Operators on sequences and optionals.
#include <fmt/format.h>

#include "infer/contents.h"
#include "infer/diagnostics.h"
#include "infer/filled_sequences.h"
#include "infer/operators.h"
#include "ir/standard.h"

namespace sardonyx::infer {
namespace {

// The element type of a sequence input; the unknown type when it is not one.
const Type& sequence_element(const NodeContext& c, size_t input) {
    return c.input_type(input).element();
}

void check_position(NodeContext& c, size_t input) {
    c.check_rank(input, 0, 1);
}

bool are_element_types_different(const Type& a, const Type& b) {
    return a.is_tensor() && b.is_tensor() && a.element_type() != b.element_type() &&
           a.element_type() != ElementType::kUndefined &&
           b.element_type() != ElementType::kUndefined;
}

}  // namespace

void infer_sequence_empty(NodeContext& c) {
    std::optional<int64_t> dtype = c.attribute_int("dtype");
    ElementType element = dtype.has_value()                 ? element_type_from_number(*dtype)
                          : c.is_attribute_unbound("dtype") ? ElementType::kUndefined
                                                            : ElementType::kFloat;
    if (dtype.has_value() && element == ElementType::kUndefined) {
        c.fail_attribute(kUnsupportedType, "dtype",
                         fmt::format("`dtype` of `{}` is {}, which is not an element type",
                                     c.schema->name, *dtype),
                         "write a member of `TensorProto.DataType`");
    }
    c.set_output(0, Type::sequence(Type::tensor(element)));
}

void infer_sequence_construct(NodeContext& c) {
    Type element = c.input_type(0);
    for (size_t i = 1; i < c.node.input_count(); ++i) {
        element = join(element, c.input_type(i));
    }
    c.set_output(0, Type::sequence(std::move(element)));
}

void infer_sequence_insert(NodeContext& c) {
    const Type& element = sequence_element(c, 0);
    const Type& added = c.input_type(1);
    if (are_element_types_different(element, added)) {
        c.fail(kTypeMismatch,
               fmt::format("{} is {}, and the sequence holds {}", c.input_name(1),
                           added.to_string(), element.to_string()),
               1, 0, "all tensors of a sequence have one element type");
    }
    check_position(c, 2);
    c.set_output(0,
                 Type::sequence(is_empty_sequence(c.node.input(0)) ? added : join(element, added)));
}

void infer_sequence_at(NodeContext& c) {
    check_position(c, 1);
    c.set_output(0, sequence_element(c, 0));
}

void infer_sequence_erase(NodeContext& c) {
    check_position(c, 1);
    c.set_output(0, c.input_type(0));
}

void infer_sequence_length(NodeContext& c) {
    c.set_output(0, ElementType::kInt64, Shape{});
}

// Operators, SplitToSequence: without `split`, parts of size 1, whose axis goes unless `keepdims`.
void infer_split_to_sequence(NodeContext& c) {
    Type element = Type::tensor(c.input_element(0));
    const Shape* shape = c.input_shape(0);
    std::optional<int64_t> axis = c.attribute_int("axis");
    std::optional<int> normal;
    if (shape != nullptr && axis.has_value()) {
        normal = c.normalize_axis(*axis, static_cast<int>(shape->size()), "axis");
    }
    if (normal.has_value()) {
        Shape part = *shape;
        Dim& size = part[static_cast<size_t>(*normal)];
        std::optional<int64_t> keepdims = c.attribute_int("keepdims");
        std::optional<std::vector<int64_t>> lengths = c.input_ints(1);
        bool is_scalar = c.input_rank(1) == 0;
        Dim whole = size;
        size = Dim();
        if (!c.has_input(1)) {
            size = 1;
        } else if (lengths.has_value() && !lengths->empty()) {
            Dim first = lengths->front();
            bool divides = is_scalar && first.value() > 0 && modulo(whole, first).equals(0);
            bool are_equal = !is_scalar;
            for (int64_t length : *lengths) {
                are_equal = are_equal && length == first.value();
            }
            size = divides || are_equal ? first : Dim();
        }
        if (!c.has_input(1) && keepdims == 0) {
            part.erase(part.begin() + *normal);
        }
        bool is_rank_known = c.has_input(1) || keepdims.has_value();
        element.set_shape(is_rank_known ? std::optional(std::move(part)) : std::nullopt);
    }
    c.set_output(0, Type::sequence(std::move(element)));
}

void infer_concat_from_sequence(NodeContext& c) {
    const Type& element = sequence_element(c, 0);
    std::optional<int64_t> axis = c.attribute_int("axis");
    std::optional<int64_t> new_axis = c.attribute_int("new_axis");
    if (!element.is_tensor() || !element.has_shape() || !axis.has_value() ||
        !new_axis.has_value()) {
        c.set_output(0, element.element_type(), std::nullopt);
        return;
    }
    Shape result = element.shape();
    int rank = static_cast<int>(result.size()) + (*new_axis != 0 ? 1 : 0);
    std::optional<int> normal = c.normalize_axis(*axis, rank, "axis");
    if (!normal.has_value()) {
        c.set_output(0, element.element_type(), std::nullopt);
        return;
    }
    if (*new_axis != 0) {
        result.insert(result.begin() + *normal, Dim());
    } else {
        result[static_cast<size_t>(*normal)] = Dim();
    }
    c.set_output(0, element.element_type(), std::move(result));
}

void infer_optional(NodeContext& c) {
    if (c.has_input(0)) {
        c.set_output(0, Type::optional(c.input_type(0)));
    } else if (const Type* type = c.attribute_type("type")) {
        c.set_output(0, Type::optional(*type));
    } else if (!c.is_attribute_unbound("type")) {
        c.fail_attribute(kInvalidValue, "type", "`Optional` has neither an input nor a `type`",
                         "give one of them");
    }
}

// Since opset 18 the input may be a tensor or a sequence, which is there, or left out.
void infer_optional_has_element(NodeContext& c) {
    c.set_output(0, ElementType::kBool, Shape{});
    TypeKind kind = c.input_type(0).kind();
    if (!c.has_input(0)) {
        c.set_output_dims(0, true, {Dim(0)});
    } else if (kind == TypeKind::kTensor || kind == TypeKind::kSequence) {
        c.set_output_dims(0, true, {Dim(1)});
    }
}

void infer_optional_get_element(NodeContext& c) {
    const Type& type = c.input_type(0);
    c.set_output(0, type.kind() == TypeKind::kOptional ? type.element() : type);
}

}  // namespace sardonyx::infer
