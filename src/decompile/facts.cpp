#include "decompile/facts.h"

#include <bit>

#include "base/stop.h"
#include "ir/standard.h"

namespace sardonyx::decompile {

const Tensor* constant_of(const ir::Value& value, InitializedInput input) {
    const ir::Node* node = value.producer();
    if (node == nullptr) {
        bool is_leaf = value.is_initializer() &&
                       (input == InitializedInput::kIsConstant || !value.is_graph_input());
        return is_leaf && value.constant ? &*value.constant : nullptr;
    }
    bool is_constant = ir::is_standard(node, "Constant") && node->attributes.size() == 1;
    return is_constant ? node->attributes[0].get<Tensor>() : nullptr;
}

InitializedInput initialized_input(const ir::Model& model) {
    constexpr int64_t kFirstDefaults = 4;
    bool is_old = model.ir_version != 0 && model.ir_version < kFirstDefaults;  // 0: not written yet
    return is_old ? InitializedInput::kIsConstant : InitializedInput::kHasDefault;
}

size_t wanted_outputs(const ir::Node& node) {
    size_t count = node.output_count();
    while (count > 0 &&
           (node.output(count - 1) == nullptr || node.output(count - 1)->name.empty())) {
        --count;
    }
    return count;
}

size_t given_inputs(const ir::Node& node) {
    size_t count = node.input_count();
    while (count > 0 && node.input(count - 1) == nullptr) {
        --count;
    }
    return count;
}

std::vector<const ir::Graph*> subgraphs(const ir::Node& node) {
    std::vector<const ir::Graph*> graphs;
    for (const ir::Attribute& attribute : node.attributes) {
        if (const auto* graph = attribute.get<ir::Graph*>()) {
            graphs.push_back(*graph);
        } else if (const auto* list = attribute.get<std::vector<ir::Graph*>>()) {
            graphs.insert(graphs.end(), list->begin(), list->end());
        }
    }
    return graphs;
}

bool is_true(const Tensor* tensor) {
    return tensor != nullptr && tensor->element_type() == ElementType::kBool &&
           tensor->count() == 1 && tensor->bytes()[0] != std::byte{0};
}

bool is_endless(const ir::Node& loop, InitializedInput input) {
    std::vector<const ir::Graph*> bodies = subgraphs(loop);
    if (!ir::is_standard(loop, "Loop") || bodies.size() != 1 || bodies[0]->inputs.size() < 2 ||
        bodies[0]->outputs.empty()) {
        return false;
    }
    const ir::Value* first = loop.input(1);
    const ir::Value* next = bodies[0]->outputs[0];
    bool stays = is_true(constant_of(*next, input));
    if (next->producer() != nullptr && ir::is_standard(next->producer(), "Identity")) {
        next = next->producer()->input(0);
    }
    return (first == nullptr || is_true(constant_of(*first, input))) &&
           (stays || next == bodies[0]->inputs[1]);
}

ElementType only_type(const ops::TypeSet& types) {
    bool is_one = std::popcount(types.tensor) == 1 && types.sequence == 0 &&
                  types.optional_tensor == 0 && types.optional_sequence == 0 && !types.maps;
    return is_one ? element_type_from_number(std::countr_zero(types.tensor))
                  : ElementType::kUndefined;
}

Facts::Facts(const ir::Model& model, const ir::Graph& graph)
    : initialized_input_(initialized_input(model)) {
    need_outputs(graph);
    while (!waiting_.empty()) {
        stop_point();
        const ir::Node* node = waiting_.back();
        waiting_.pop_back();
        visit(model, *node);
    }
}

void Facts::need_outputs(const ir::Graph& graph) {
    for (const ir::Value* output : graph.outputs) {
        need(output, true);
    }
}

void Facts::need(const ir::Value* value, bool needs_name) {
    if (value == nullptr) {
        return;
    }
    read_.insert(value);
    if (constant_of(*value) != nullptr) {
        ConstantUse& use = constants_[value];
        ++use.count;
        use.needs_name = use.needs_name || needs_name;
    }
    if (value->producer() != nullptr && live_.insert(value->producer()).second) {
        waiting_.push_back(value->producer());
    }
}

void Facts::visit(const ir::Model& model, const ir::Node& node) {
    const ir::Function* callee = model.find_function(node.domain, node.op_type, node.overload);
    if (callee != nullptr && called_.insert(callee).second) {
        callees_.push_back(callee);
    }
    for (const ir::Use& use : node.inputs()) {
        need(use.value, callee != nullptr);
    }
    for (const ir::Graph* graph : subgraphs(node)) {
        need_outputs(*graph);
    }
}

const ConstantUse& Facts::use_of(const ir::Value& value) const {
    static const ConstantUse kNone;
    auto found = constants_.find(&value);
    return found == constants_.end() ? kNone : found->second;
}

ElementType Facts::known_type(const ir::Value* value) const {
    if (value == nullptr) {
        return ElementType::kUndefined;
    }
    if (const Tensor* tensor = constant_of(*value)) {
        return tensor->element_type();
    }
    auto found = types_.find(value);
    return found == types_.end() ? ElementType::kUndefined : found->second;
}

void Facts::set_known_type(const ir::Value* value, ElementType type) {
    if (type != ElementType::kUndefined) {
        types_[value] = type;
    }
}

void Facts::know_outputs(const ir::Node& node, const ops::Schema* schema) {
    const ir::Attribute* to = node.find_attribute("to");
    if (ir::is_standard(node, "Cast") && to != nullptr && to->get<int64_t>() != nullptr) {
        set_known_type(node.output(), element_type_from_number(*to->get<int64_t>()));
        return;
    }
    if (schema == nullptr) {
        return;
    }
    for (size_t i = 0; i < node.output_count(); ++i) {
        const ops::Parameter* parameter = schema->output(i);
        // What a variadic list of many types holds, control flow among them, is not followed.
        if (parameter == nullptr || !parameter->is_homogeneous) {
            continue;
        }
        const ops::TypeVariable& variable =
            schema->type_variables[static_cast<size_t>(parameter->type_variable)];
        ElementType type = only_type(variable.types);
        bool is_tensor = variable.types.sequence == 0 && variable.types.optional_tensor == 0 &&
                         variable.types.optional_sequence == 0 && !variable.types.maps;
        for (size_t j = 0; j < node.input_count() && type == ElementType::kUndefined; ++j) {
            const ops::Parameter* input = schema->input(j);
            bool is_same = is_tensor && input != nullptr && input->is_homogeneous &&
                           input->type_variable == parameter->type_variable;
            type = is_same ? known_type(node.input(j)) : type;
        }
        set_known_type(node.output(i), type);
    }
}

}  // namespace sardonyx::decompile
