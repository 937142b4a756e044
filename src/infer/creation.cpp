// Operators that make a tensor from sizes and numbers.
#include <fmt/format.h>

#include <cmath>

#include "infer/contents.h"
#include "infer/diagnostics.h"
#include "infer/operators.h"
#include "ir/sparse.h"

namespace sardonyx::infer {
namespace {

// The number of elements of Range (Operators, Range): max(ceil((limit - start) / delta), 0).
Dim range_count(const Dim& start, const Dim& limit, const Dim& delta) {
    if (!delta.is_static() || delta.value() == 0) {
        return {};
    }
    Dim length = delta.value() > 0 ? limit - start : start - limit;
    Dim step = delta.value() > 0 ? delta : -delta;
    return greater_of(ceil_div(length, step), 0);
}

Dim floating_range_count(double start, double limit, double delta) {
    constexpr double kMost = 4503599627370496.0;  // 2^52: counts up to here are exact
    double count = std::ceil((limit - start) / delta);
    if (!(count > -kMost && count < kMost)) {
        return {};
    }
    return count > 0 ? Dim(static_cast<int64_t>(count)) : Dim(0);
}

std::optional<Dim> scalar_element(const NodeContext& c, size_t input) {
    std::optional<std::vector<Dim>> dims = c.input_dims(input);
    return dims.has_value() && dims->size() == 1 ? std::optional(dims->front()) : std::nullopt;
}

void infer_integer_range(NodeContext& c) {
    Dim start = scalar_element(c, 0).value_or(Dim());
    Dim limit = scalar_element(c, 1).value_or(Dim());
    Dim delta = scalar_element(c, 2).value_or(Dim());
    if (delta.is_static() && delta.value() == 0) {
        c.fail(kInvalidValue, "`delta` of `Range` is 0", 2);
    }
    Dim count = range_count(start, limit, delta);
    c.set_output_shape(0, Shape{count});
    if (!count.is_static() || count.value() > static_cast<int64_t>(kMaxContent)) {
        return;
    }
    std::vector<Dim> elements;
    for (int64_t i = 0; i < count.value(); ++i) {
        elements.push_back(start + delta * i);
    }
    c.set_output_dims(0, false, std::move(elements));
}

}  // namespace

void infer_range(NodeContext& c) {
    for (size_t i = 0; i < 3; ++i) {
        // Function bodies of the standard compute limits of shape [1], which runtimes take; what is
        // written down as a list is refused, as ONNX Runtime refuses it.
        c.check_rank(i, 0, c.input_constant(i) != nullptr ? 0 : 1);
    }
    ElementType element = c.output_element(0);
    if (is_integer(element)) {
        infer_integer_range(c);
        return;
    }
    std::optional<double> start = c.input_number(0);
    std::optional<double> limit = c.input_number(1);
    std::optional<double> delta = c.input_number(2);
    bool is_known = start.has_value() && limit.has_value() && delta.has_value() && *delta != 0;
    c.set_output_shape(0, Shape{is_known ? floating_range_count(*start, *limit, *delta) : Dim()});
}

// Operators, ConstantOfShape: FLOAT zeros unless attribute `value` says otherwise.
void infer_constant_of_shape(NodeContext& c) {
    const Tensor* value = c.attribute_tensor("value");
    ElementType element = value != nullptr                  ? value->element_type()
                          : c.is_attribute_unbound("value") ? ElementType::kUndefined
                                                            : ElementType::kFloat;
    c.check_rank(0, 1);
    if (value != nullptr && (value->rank() != 1 || value->count() != 1)) {
        c.fail(kInvalidValue,
               fmt::format("attribute `value` of `ConstantOfShape` has {} elements and rank {}",
                           value->count(), value->rank()),
               -1, -1, "give a vector of one element");
    }
    std::optional<std::vector<Dim>> dims = c.input_dims(0);
    if (!dims.has_value()) {
        c.set_output(0, element, std::nullopt);
        return;
    }
    for (Dim& dim : *dims) {
        if (dim.is_static() && dim.value() < 0) {
            c.fail(kInvalidValue,
                   fmt::format("`ConstantOfShape` gets the size {} in `{}`", dim.value(),
                               to_text(*dims)),
                   0);
            dim = Dim();
        }
    }
    c.set_output(0, element, *dims);
    bool is_small = dims->empty() || (dims->size() == 1 && dims->front().is_static() &&
                                      dims->front().value() <= static_cast<int64_t>(kMaxContent));
    if (value == nullptr || !is_small || value->count() != 1) {
        return;
    }
    if (std::optional<std::vector<int64_t>> filler = to_int64s(*value, 1)) {
        size_t count = dims->empty() ? 1 : static_cast<size_t>(dims->front().value());
        c.set_output_dims(0, dims->empty(), std::vector<Dim>(count, Dim(filler->front())));
    }
}

namespace {

template <typename T>
Tensor list_tensor(const std::vector<T>& values) {
    return Tensor::of<T>({static_cast<int64_t>(values.size())}, std::span<const T>(values));
}

// The tensor that an attribute of Constant stands for; nothing for a sparse tensor and for what is
// not known.
std::optional<Tensor> constant_of_attribute(const ir::Attribute& attribute) {
    if (const Tensor* value = attribute.get<Tensor>()) {
        return *value;
    }
    if (const float* value = attribute.get<float>()) {
        return Tensor::scalar(*value);
    }
    if (const int64_t* value = attribute.get<int64_t>()) {
        return Tensor::scalar(*value);
    }
    if (const std::string* value = attribute.get<std::string>()) {
        return Tensor::of_strings({}, {*value});
    }
    if (const std::vector<float>* values = attribute.get<std::vector<float>>()) {
        return list_tensor(*values);
    }
    if (const std::vector<int64_t>* values = attribute.get<std::vector<int64_t>>()) {
        return list_tensor(*values);
    }
    if (const std::vector<std::string>* values = attribute.get<std::vector<std::string>>()) {
        return Tensor::of_strings({static_cast<int64_t>(values->size())}, *values);
    }
    return std::nullopt;
}

// The type of a Constant whose value is an attribute parameter that is not bound.
Type type_of_parameter(ir::AttributeType type) {
    switch (type) {
        case ir::AttributeType::kFloat:
            return Type::tensor(ElementType::kFloat, Shape{});
        case ir::AttributeType::kInt:
            return Type::tensor(ElementType::kInt64, Shape{});
        case ir::AttributeType::kString:
            return Type::tensor(ElementType::kString, Shape{});
        case ir::AttributeType::kFloats:
            return Type::tensor(ElementType::kFloat, Shape{Dim()});
        case ir::AttributeType::kInts:
            return Type::tensor(ElementType::kInt64, Shape{Dim()});
        case ir::AttributeType::kStrings:
            return Type::tensor(ElementType::kString, Shape{Dim()});
        default:
            return Type::tensor(ElementType::kUndefined);
    }
}

}  // namespace

void infer_constant(NodeContext& c) {
    for (const ir::Attribute& given : c.node.attributes) {
        if (c.schema->find_attribute(given.name) == nullptr) {
            continue;
        }
        const ir::Attribute* attribute = c.attribute(given.name);
        if (attribute == nullptr) {
            c.set_output(0, type_of_parameter(given.type));
            return;
        }
        if (const ir::SparseTensor* sparse = attribute->get<ir::SparseTensor>()) {
            c.set_output(0, ir::dense_type(*sparse));
            return;
        }
        std::optional<Tensor> tensor = constant_of_attribute(*attribute);
        if (tensor.has_value() && tensor->is_valid()) {
            c.set_output_constant(0, std::move(*tensor));
            return;
        }
    }
}

void infer_eye_like(NodeContext& c) {
    c.check_rank(0, 2);
    std::optional<int64_t> dtype = c.attribute_int("dtype");
    ElementType element = dtype.has_value()                 ? element_type_from_number(*dtype)
                          : c.is_attribute_unbound("dtype") ? ElementType::kUndefined
                                                            : c.input_element(0);
    c.set_output(0, element, c.input_rank(0) == 2 ? c.input_type(0).maybe_shape() : Shape(2));
}

// Operators, OneHot: the shape of the indices with `depth` put in at `axis`.
void infer_one_hot(NodeContext& c) {
    const Shape* indices = c.input_shape(0);
    std::optional<int64_t> axis = c.attribute_int("axis");
    if (c.check_rank(1, 0, 1) && c.input_rank(1) == 1) {
        expect_dim(c, {1, 0}, 1, "`depth` is one number");
    }
    if (const Shape* values = c.input_shape(2)) {
        if (c.check_rank(2, 1) && values->front().differs(2)) {
            c.fail(kShapeMismatch,
                   fmt::format("{} has shape `{}`, and must hold the two values [off, on]",
                               c.input_name(2), to_text(*values)),
                   2);
        }
    }
    if (indices == nullptr) {
        c.set_output_shape(0, std::nullopt);
        return;
    }
    int rank = static_cast<int>(indices->size()) + 1;
    std::optional<int> normal;
    if (axis.has_value()) {
        normal = c.normalize_axis(*axis, rank, "axis");
    }
    if (!normal.has_value()) {
        c.set_output_shape(0, Shape(static_cast<size_t>(rank)));
        return;
    }
    Dim depth = scalar_element(c, 1).value_or(Dim());
    if (!c.has_input(1) || !is_integer(c.input_element(1))) {
        std::optional<double> number = c.input_number(1);
        bool is_size = number.has_value() && *number >= 0 && *number < 1e15;
        depth = is_size ? Dim(static_cast<int64_t>(*number)) : Dim();
    }
    Shape result = *indices;
    result.insert(result.begin() + *normal, depth);
    c.set_output_shape(0, std::move(result));
}

}  // namespace sardonyx::infer
