// The emitter of lowering, over the graph that is being built.
#include "elaborate/emit/emitter.h"

#include <algorithm>

#include "elaborate/diagnostics.h"
#include "elaborate/emit/as_value.h"
#include "elaborate/emit/constants.h"
#include "elaborate/emit/emit.h"
#include "elaborate/emit/made_before.h"
#include "elaborate/emit/opsets.h"
#include "elaborate/objects/object.h"
#include "ir/standard.h"
#include "ops/ops.h"

namespace sardonyx::elaborate {

namespace {

// Whether the node is a call of this operator with these inputs and attributes, which are ints.
bool is_call(const ir::Node& node, std::string_view op_type, std::span<ir::Value* const> inputs,
             std::initializer_list<ir::Attribute> attributes) {
    auto is_of_node = [&node](const ir::Attribute& attribute) {
        const ir::Attribute* own = node.find_attribute(attribute.name);
        const int64_t* value = attribute.get<int64_t>();
        const int64_t* other = own != nullptr ? own->get<int64_t>() : nullptr;
        return value != nullptr && other != nullptr && *value == *other;
    };
    return ir::is_standard(&node, op_type) && node.output_count() == 1 &&
           std::equal(node.inputs().begin(), node.inputs().end(), inputs.begin(), inputs.end(),
                      [](const ir::Use& use, const ir::Value* one) { return use.value == one; }) &&
           node.attributes.size() == attributes.size() &&
           std::all_of(attributes.begin(), attributes.end(), is_of_node);
}

}  // namespace

// A size, a cast of one, or a constant.
bool Emitter::is_of_sizes(Value value) const {
    const ir::Node* maker = value->producer();
    return value->constant || is_size(value) ||
           (ir::is_standard(maker, "Cast") && is_size(maker->input(0)));
}

// What is computed of sizes is computed once. The same of tensors stays as it is written, where
// each name has a value of its own.
ir::Value* Emitter::known_of_sizes(std::string_view op_type, std::span<const Value> inputs,
                                   std::initializer_list<ir::Attribute> attributes) const {
    bool are_sizes = !inputs.empty() && std::all_of(inputs.begin(), inputs.end(),
                                                    [this](Value one) { return is_of_sizes(one); });
    if (!are_sizes) {
        return nullptr;
    }
    // A constant may have more uses than are looked at.
    auto size =
        std::find_if(inputs.begin(), inputs.end(), [](Value one) { return !one->constant; });
    size_t place = size != inputs.end() ? static_cast<size_t>(size - inputs.begin()) : 0;
    return made_before(
        c_.graph, inputs[place],
        [&](const ir::Node& node) { return is_call(node, op_type, inputs, attributes); }, place);
}

ir::Value* Emitter::emit_variadic(std::string_view op_type, std::span<const Value> inputs,
                                  std::initializer_list<ir::Attribute> attributes) {
    for (Value input : inputs) {
        if (input == nullptr) {
            return nullptr;  // reported before
        }
    }
    if (Value known = known_of_sizes(op_type, inputs, attributes)) {
        return known;
    }
    OpsetObject opset = operator_opset(c_);
    import_opset(c_, opset, range_);
    NodeRequest request;
    request.version = opset.version;
    request.op_type = op_type;
    request.inputs = inputs;
    request.attributes.assign(attributes.begin(), attributes.end());
    request.range = range_;
    request.input_ranges = operand_ranges_;
    // After an error in one node of an expression the rest of them would only repeat it.
    diagnostics::Checkpoint before(c_.program.diagnostics);
    ir::Node* node = emit_node(c_, std::move(request));
    bool is_fine = node != nullptr && !before.has_errors();
    return is_fine ? node->output() : nullptr;
}

bool Emitter::is_size(Value value) const {
    constexpr int64_t kFar = int64_t{1} << 62;
    return value != nullptr && value->content != nullptr &&
           value->type.element_type() == ElementType::kInt64 &&
           std::all_of(value->content->elements.begin(), value->content->elements.end(),
                       [](const Dim& dim) {
                           return dim.is_static() ? dim.value() < kFar && dim.value() > -kFar
                                                  : !dim.is_unknown();
                       });
}

ir::Value* Emitter::int64s(std::vector<int64_t> values) {
    Dims dims{static_cast<int64_t>(values.size())};
    return shared_constant(c_, Tensor::of<int64_t>(std::move(dims), values), range_);
}

ir::Value* Emitter::int64_scalar(int64_t value) {
    return shared_constant(c_, Tensor::scalar(value), range_);
}

ir::Value* Emitter::scalar_like(Value like, double value) {
    if (like == nullptr) {
        return nullptr;
    }
    return as_value(c_, Object::real(value), range_, like->type.element_type(), like);
}

int64_t Emitter::opset() {
    return operator_opset(c_).version;
}

ir::Value* Emitter::fail(std::string message, std::string help) {
    c_.report(kUnsupportedOperand, range_, std::move(message)).with_help(std::move(help));
    return nullptr;
}

}  // namespace sardonyx::elaborate
