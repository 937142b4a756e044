// Random numbers: `dtype` names the element type.

#include "infer/checks.h"
#include "infer/diagnostics.h"
#include "infer/operators.h"

#include <fmt/format.h>

namespace sardonyx::infer {

// RandomNormal, RandomUniform.
void infer_random(NodeContext& c) {
    std::optional<Shape> shape;
    if (std::optional<std::vector<int64_t>> dims = c.attribute_ints("shape")) {
        shape = Shape(dims->begin(), dims->end());
        for (Dim& dim : *shape) {
            if (dim.value() < 0) {
                c.fail_attribute(kInvalidValue, "shape",
                                 fmt::format("`shape` of `{}` is {}, and sizes are not negative",
                                             c.schema->name, to_text(*dims)));
                shape = Shape(dims->size());
                break;
            }
        }
    }
    c.set_output(0, element_from_attribute(c, "dtype", ElementType::kFloat), std::move(shape));
}

// RandomNormalLike, RandomUniformLike, Bernoulli.
void infer_random_like(NodeContext& c) {
    c.set_output(0, element_from_attribute(c, "dtype", c.input_element(0)),
                 c.input_type(0).maybe_shape());
}

void infer_multinomial(NodeContext& c) {
    const Shape* input = shape_of_rank(c, 0, 2, "(batch, class)");
    std::optional<int64_t> samples = int_in_range(c, "sample_size", 1);
    c.set_output(0, element_from_attribute(c, "dtype", ElementType::kInt32),
                 Shape{dim_at(input, 0), samples.has_value() ? Dim(*samples) : Dim()});
}

}  // namespace sardonyx::infer
