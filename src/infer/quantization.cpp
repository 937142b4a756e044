// Quantization. A scale is a scalar (per tensor), a vector (per axis), or a tensor of the input's
// rank whose axis counts blocks of `block_size` elements.

#include <fmt/format.h>

#include "infer/checks.h"
#include "infer/diagnostics.h"
#include "infer/matmul.h"
#include "infer/operators.h"

namespace sardonyx::infer {
namespace {

constexpr size_t kData = 0;
constexpr size_t kScale = 1;
constexpr size_t kZeroPoint = 2;

// A scale of the input's rank: along `axis` one element for each block.
void check_blocked_scale(NodeContext& c, int axis, int64_t block_size) {
    const Shape& scale = *c.input_shape(kScale);
    for (int i = 0; i < static_cast<int>(scale.size()); ++i) {
        if (i != axis) {
            same_dim(c, {kData, i}, {kScale, i}, "the size along an axis that is not blocked");
            continue;
        }
        expect_dim(c, {kScale, i}, ceil_div(input_dim(c, kData, i), block_size),
                   fmt::format("`block_size` is {} and the data has {} there", block_size,
                               input_dim(c, kData, i).to_string()));
    }
}

// Whether a shape is, or may be, that of a scalar or of a vector of one element.
bool may_be_one_element(const Shape& shape) {
    return shape.empty() || (shape.size() == 1 && !shape[0].differs(1));
}

void check_zero_point(NodeContext& c) {
    const Shape* scale = c.input_shape(kScale);
    const Shape* zero_point = c.input_shape(kZeroPoint);
    if (scale == nullptr || zero_point == nullptr ||
        (may_be_one_element(*scale) && may_be_one_element(*zero_point))) {
        return;
    }
    if (scale->size() != zero_point->size()) {
        c.fail(kRankMismatch,
               fmt::format("{} has shape `{}` and {} has shape `{}`, and must be alike",
                           c.input_name(kScale), to_text(*scale), c.input_name(kZeroPoint),
                           to_text(*zero_point)),
               kZeroPoint, kScale);
        return;
    }
    for (int i = 0; i < static_cast<int>(scale->size()); ++i) {
        same_dim(c, {kScale, i}, {kZeroPoint, i}, "the number of scales along one axis");
    }
}

// `axis` matters only where the scale is not a scalar; a vector of one element counts as one where
// the data has no such axis.
void check_scale(NodeContext& c) {
    check_zero_point(c);
    std::optional<int64_t> block_size = int_in_range(c, "block_size", 0);
    const Shape* data = c.input_shape(kData);
    const Shape* scale = c.input_shape(kScale);
    std::optional<int64_t> axis = c.attribute_int("axis");
    if (data == nullptr || scale == nullptr || may_be_one_element(*scale) || !axis.has_value()) {
        return;
    }
    std::optional<int> along = c.normalize_axis(*axis, static_cast<int>(data->size()), "axis");
    if (!along.has_value()) {
        return;
    }
    if (block_size.value_or(0) > 0) {
        if (shape_of_rank(c, kScale, static_cast<int>(data->size())) != nullptr) {
            check_blocked_scale(c, *along, *block_size);
        }
    } else if (shape_of_rank(c, kScale, 0, 1) != nullptr) {
        same_dim(c, {kData, *along}, {kScale, 0}, "the size along `axis`");
    }
}

// Zero points of the integer matrix products: scalars, or one for each row or column.
void set_matmul(NodeContext& c, size_t a, size_t b) {
    c.set_output_shape(0, matmul_shape(c, a, b));
}

}  // namespace

// The zero point decides the output's type, else `output_dtype` (since 21), else it is UINT8.
void infer_quantize_linear(NodeContext& c) {
    check_scale(c);
    ElementType chosen = element_from_attribute(c, "output_dtype", ElementType::kUndefined);
    bool is_chosen = c.attribute_int("output_dtype").value_or(0) != 0;
    ElementType element = is_chosen ? chosen : ElementType::kUint8;
    if (c.is_attribute_unbound("output_dtype")) {
        element = ElementType::kUndefined;
    }
    if (c.has_input(kZeroPoint)) {
        ElementType zero_point = c.input_element(kZeroPoint);
        if (is_chosen && chosen != ElementType::kUndefined &&
            zero_point != ElementType::kUndefined && chosen != zero_point) {
            c.fail(kTypeMismatch,
                   fmt::format("{} is {}, but `output_dtype` is {}", c.input_name(kZeroPoint),
                               name(zero_point), name(chosen)),
                   kZeroPoint, -1, "leave `output_dtype` out: the zero point decides");
        }
        element =
            zero_point != ElementType::kUndefined ? zero_point : (is_chosen ? chosen : zero_point);
    }
    c.set_output(0, element, c.input_type(kData).maybe_shape());
}

// FLOAT through version 13, then the type of the scale unless `output_dtype` (since 23) says
// another.
void infer_dequantize_linear(NodeContext& c) {
    check_scale(c);
    ElementType element = c.version() < 19
                              ? ElementType::kFloat
                              : element_from_attribute(c, "output_dtype", c.input_element(kScale));
    c.set_output(0, element, c.input_type(kData).maybe_shape());
}

void infer_dynamic_quantize_linear(NodeContext& c) {
    c.set_output(0, ElementType::kUint8, c.input_type(0).maybe_shape());
    c.set_output(1, ElementType::kFloat, Shape{});
    c.set_output(2, ElementType::kUint8, Shape{});
}

void infer_matmul_integer(NodeContext& c) {
    set_matmul(c, 0, 1);
}

void infer_q_linear_matmul(NodeContext& c) {
    set_matmul(c, 0, 3);
}

}  // namespace sardonyx::infer
