// Subgraphs of functions that are given to an operator: the types of their inputs follow from the
// operator.
#include "elaborate/emit/body_graphs.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "elaborate/emit/emit.h"
#include "elaborate/emit/interpreter.h"
#include "elaborate/emit/trial.h"
#include "elaborate/objects/context.h"
#include "ops/standard.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

int64_t int_attribute(std::span<const ir::Attribute> attributes, std::string_view name,
                      int64_t otherwise) {
    for (const ir::Attribute& attribute : attributes) {
        if (attribute.name == name && attribute.get<int64_t>() != nullptr) {
            return *attribute.get<int64_t>();
        }
    }
    return otherwise;
}

// A tensor type without one of its axes; axis 0 unless the attribute says otherwise.
Type without_axis(const Type& type, int64_t axis) {
    if (!type.is_tensor() || !type.has_shape()) {
        return Type::tensor(type.element_type());
    }
    Shape shape = type.shape();
    int64_t rank = static_cast<int64_t>(shape.size());
    axis = axis < 0 ? axis + rank : axis;
    if (axis < 0 || axis >= rank) {
        return Type::tensor(type.element_type());
    }
    shape.erase(shape.begin() + axis);
    return Type::tensor(type.element_type(), std::move(shape));
}

std::vector<Type> scan_types(std::span<ir::Value* const> inputs,
                             std::span<const ir::Attribute> attributes, bool is_batched) {
    if (is_batched && !inputs.empty()) {
        inputs = inputs.subspan(1);  // the lengths of the sequences
    }
    size_t scans =
        static_cast<size_t>(std::max<int64_t>(0, int_attribute(attributes, "num_scan_inputs", 0)));
    size_t states = inputs.size() - std::min(inputs.size(), scans);
    const std::vector<int64_t>* axes = nullptr;
    for (const ir::Attribute& attribute : attributes) {
        axes = attribute.name == "scan_input_axes" ? attribute.get<std::vector<int64_t>>() : axes;
    }
    std::vector<Type> types;
    for (size_t i = 0; i < inputs.size(); ++i) {
        Type type = inputs[i] != nullptr ? inputs[i]->type : Type();
        type = is_batched ? without_axis(type, 0) : type;
        size_t scan = i - std::min(i, states);
        int64_t axis = axes != nullptr && scan < axes->size() ? (*axes)[scan] : 0;
        types.push_back(i < states ? type : without_axis(type, axis));
    }
    return types;
}

std::vector<Type> body_types(const ops::Schema& schema, std::span<ir::Value* const> inputs,
                             std::span<const ir::Attribute> attributes) {
    std::vector<Type> types;
    if (ops::is_standard(schema, "Scan")) {
        return scan_types(inputs, attributes, schema.since_version == 8);
    }
    if (ops::is_standard(schema, "Loop")) {
        types.push_back(Type::tensor(ElementType::kInt64, Shape{}));
        types.push_back(Type::tensor(ElementType::kBool, Shape{}));
        for (size_t i = 2; i < inputs.size(); ++i) {
            types.push_back(inputs[i] != nullptr ? inputs[i]->type : Type());
        }
    }
    if (ops::is_standard(schema, "SequenceMap")) {
        for (ir::Value* input : inputs) {
            bool is_sequence = input != nullptr && input->type.kind() == TypeKind::kSequence;
            types.push_back(is_sequence        ? input->type.element()
                            : input != nullptr ? input->type
                                               : Type());
        }
    }
    return types;
}

}  // namespace

ir::Graph* body_graph(Context& c, const ops::Schema& schema, std::span<ir::Value* const> inputs,
                      std::span<const ir::Attribute> attributes, const Closure& closure,
                      Range range) {
    std::vector<Type> types = body_types(schema, inputs, attributes);
    Trial trial(c);
    ir::Graph* graph = closure_graph(c, closure, types, range);
    if (graph == nullptr || !ops::is_standard(schema, "Loop")) {
        return graph;
    }
    // Values that change their shape from one iteration to the next have no known one inside.
    bool changes = false;
    for (size_t i = 2; i < types.size() && i - 1 < graph->outputs.size(); ++i) {
        Type wider = join(types[i], graph->outputs[i - 1]->type);
        if (types[i].is_tensor() && wider.is_tensor() && !(wider == types[i])) {
            types[i].set_shape(std::nullopt);
            changes = true;
        }
    }
    if (!changes) {
        return graph;
    }
    trial.take_back(*graph);
    return closure_graph(c, closure, types, range);
}

}  // namespace sardonyx::elaborate
