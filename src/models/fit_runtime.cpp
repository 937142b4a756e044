#include "models/fit_runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "ir/standard.h"
#include "ir/walk.h"
#include "models/inline.h"
#include "models/runtime_kernels.h"
#include "models/strip.h"
#include "models/values.h"
#include "proto/proto.h"

namespace sardonyx::models {
namespace {

using Choices = std::vector<ElementType>;

// What values of the type may become, best first; nothing is lost but the precision of DOUBLE.
// Integers become wider ones alone: in floating-point numbers, a division is another one.
Choices wider_types(ElementType type, const ir::Node& node) {
    using enum ElementType;
    if (ir::is_standard(node, "NonZero")) {
        return {kBool};
    }
    switch (type) {
        case kBool:
            return {kUint8, kInt8, kInt32, kInt64, kFloat};
        case kUint8:
        case kInt8:
        case kUint16:
        case kInt16: {
            // These only move elements.
            bool moves = ir::is_standard(node, "DepthToSpace") ||
                         ir::is_standard(node, "SpaceToDepth") || ir::is_standard(node, "OneHot");
            return moves ? Choices{kInt32, kInt64, kFloat} : Choices{kInt32, kInt64};
        }
        case kInt32:
        case kUint32:
            return {kInt64};
        case kBfloat16:
        case kFloat16:
            return {kFloat, kDouble};
        case kDouble:
            return {kFloat};
        default:
            return {};
    }
}

// A type variable of the node's operator, and what it stands for.
struct Slot {
    size_t variable = 0;
    bool is_of_input = false;
    Choices choices;  // the type that it has, then those that it may become
    size_t chosen = 0;
    ElementType own() const { return choices[0]; }
    ElementType type() const { return choices[chosen]; }
};
using Slots = std::vector<Slot>;

// The attribute that says the element type of what an operator makes of nothing; null: none does.
const ops::AttributeSchema* type_attribute(const ops::Schema& schema) {
    for (std::string_view name : {"dtype", "output_datatype", "output_dtype"}) {
        if (const ops::AttributeSchema* found = schema.find_attribute(name)) {
            return found;
        }
    }
    return nullptr;
}

class Fitter {
  public:
    Fitter(ir::Model& model, Runtime runtime) : model_(model), runtime_(runtime) {
        for_each_value(*model.graph, [this](const ir::Value& value) { names_.insert(value.name); });
    }

    Result<void> run() {
        for_each_graph(*model_.graph, [this](ir::Graph& graph) { graphs_.push_back(&graph); });
        for (ir::Graph* graph : graphs_) {
            casts_.clear();
            for (ir::Node& node : *graph) {
                fit(node);
            }
        }
        if (!refused_.empty()) {
            return Error{fmt::format("{} cannot run the model: {}", words_of(runtime_),
                                     fmt::join(refused_, "; "))};
        }
        return {};
    }

  private:
    void fit(ir::Node& node) {
        bool has_graphs = false;
        ir::for_each_subgraph(node, [&](const ir::Graph& /*graph*/) { has_graphs = true; });
        const ops::Schema* schema =
            ops::find_schema(node.domain, node.op_type, model_.opset_version(node.domain));
        if (!node.domain.empty() || has_graphs || schema == nullptr ||
            ir::is_standard(node, "Constant")) {
            return;  // control flow takes all types that its graphs have
        }
        Slots slots = slots_of(node, *schema);
        if (!choose(node, *schema, slots)) {
            refuse(*schema, slots);
            return;
        }
        bool is_changed = std::any_of(slots.begin(), slots.end(),
                                      [](const Slot& slot) { return slot.chosen != 0; });
        if (is_changed) {
            change(node, *schema, slots);
        }
    }

    static Slots slots_of(const ir::Node& node, const ops::Schema& schema) {
        Slots slots;
        auto see = [&](const ir::Value* value, const ops::Parameter* parameter, bool is_input) {
            if (value == nullptr || parameter == nullptr || !value->type.is_tensor() ||
                value->type.element_type() == ElementType::kUndefined ||
                find_slot(slots, parameter->type_variable) != nullptr) {
                return;
            }
            ElementType own = value->type.element_type();
            Choices choices = {own};
            bool is_free = is_input || type_attribute(schema) != nullptr;
            for (ElementType wider : is_free ? wider_types(own, node) : Choices()) {
                choices.push_back(wider);
            }
            slots.push_back({static_cast<size_t>(parameter->type_variable), is_input, choices, 0});
        };
        for (size_t i = 0; i < node.input_count(); ++i) {
            see(node.input(i), schema.input(i), true);
        }
        for (size_t i = 0; i < node.output_count(); ++i) {
            see(node.output(i), schema.output(i), false);
        }
        return slots;
    }

    static const Slot* find_slot(const Slots& slots, int16_t variable) {
        auto found = std::find_if(slots.begin(), slots.end(), [&](const Slot& slot) {
            return slot.variable == static_cast<size_t>(variable);
        });
        return found != slots.end() ? &*found : nullptr;
    }

    // The slot of a type variable or of a parameter.
    static const Slot* find_slot(const Slots& slots, const ops::Schema& schema,
                                 std::string_view name) {
        for (const Slot& slot : slots) {
            if (schema.type_variables[slot.variable].name == name) {
                return &slot;
            }
        }
        for (std::span<const ops::Parameter> parameters : {schema.inputs, schema.outputs}) {
            for (const ops::Parameter& parameter : parameters) {
                if (parameter.name == name) {
                    return find_slot(slots, parameter.type_variable);
                }
            }
        }
        return nullptr;
    }

    static std::optional<ElementType> type_in(const Slots& slots, const ops::Schema& schema,
                                              std::string_view name) {
        const Slot* slot = find_slot(slots, schema, name);
        return slot != nullptr ? std::optional(slot->type()) : std::nullopt;
    }

    bool has_kernel_for(const ir::Node& node, const ops::Schema& schema, const Slots& slots) const {
        return !refuses_reduction_of(node, schema, slots) &&
               has_kernel(runtime_, schema,
                          [&](std::string_view name) { return type_in(slots, schema, name); });
    }

    static bool refuses_reduction_of(const ir::Node& node, const ops::Schema& schema,
                                     const Slots& slots) {
        const ir::Attribute* reduction = node.find_attribute("reduction");
        const std::string* how = reduction != nullptr ? reduction->get<std::string>() : nullptr;
        std::optional<ElementType> type = type_in(slots, schema, "T");
        return how != nullptr && type && refuses_reduction(schema.name, *how, *type);
    }

    // With FLOAT instead of FLOAT16.
    bool has_kernel_for_floats(const ir::Node& node, const ops::Schema& schema,
                               const Slots& slots) const {
        return !refuses_reduction_of(node, schema, slots) &&
               has_kernel(runtime_, schema, [&](std::string_view name) {
                   std::optional<ElementType> type = type_in(slots, schema, name);
                   return type == ElementType::kFloat16 ? ElementType::kFloat : type;
               });
    }

    // Chooses types that a kernel takes, as few others as can be. False: there are none.
    bool choose(const ir::Node& node, const ops::Schema& schema, Slots& slots) const {
        if (!has_kernel(runtime_, schema)) {
            // The runtime expands it to operators that it has; none of them takes BFLOAT16.
            for (Slot& slot : slots) {
                slot.chosen = slot.own() == ElementType::kBfloat16 ? 1 : 0;
            }
            return schema.is_function;
        }
        if (has_kernel_for(node, schema, slots) || has_kernel_for_floats(node, schema, slots)) {
            return true;
        }
        std::optional<Slots> best;
        size_t best_cost = 0;
        while (advance(slots)) {
            size_t cost = 0;
            for (const Slot& slot : slots) {
                cost += slot.chosen;
            }
            if ((!best || cost < best_cost) && has_kernel_for(node, schema, slots)) {
                best = slots;
                best_cost = cost;
            }
        }
        if (best) {
            slots = *best;
        }
        return best.has_value();
    }

    // The next combination of choices; false: these were all, and the first is back.
    static bool advance(Slots& slots) {
        for (Slot& slot : slots) {
            if (++slot.chosen < slot.choices.size()) {
                return true;
            }
            slot.chosen = 0;
        }
        return false;
    }

    void refuse(const ops::Schema& schema, const Slots& slots) {
        std::string types;
        for (const Slot& slot : slots) {
            types += fmt::format("{}{}", types.empty() ? " for " : ", ", name(slot.own()));
        }
        bool is_known = has_kernel(runtime_, schema);
        std::string text =
            fmt::format("it has no kernel of `{}`{}", schema.name,
                        is_known ? types : fmt::format(" of opset {}", schema.since_version));
        if (std::find(refused_.begin(), refused_.end(), text) == refused_.end()) {
            refused_.push_back(std::move(text));
        }
    }

    void change(ir::Node& node, const ops::Schema& schema, const Slots& slots) {
        for (size_t i = 0; i < node.input_count(); ++i) {
            const ops::Parameter* parameter = schema.input(i);
            const Slot* slot =
                parameter != nullptr ? find_slot(slots, parameter->type_variable) : nullptr;
            if (node.input(i) != nullptr && slot != nullptr && slot->chosen != 0) {
                node.set_input(i, cast_before(node, node.input(i), slot->type()));
            }
        }
        for (size_t i = 0; i < node.output_count(); ++i) {
            const ops::Parameter* parameter = schema.output(i);
            const Slot* slot =
                parameter != nullptr ? find_slot(slots, parameter->type_variable) : nullptr;
            if (slot == nullptr) {
                continue;
            }
            if (!slot->is_of_input && type_attribute(schema) != nullptr) {
                set_type(node, type_attribute(schema)->name, slot->type());
            }
            if (slot->chosen != 0 && !node.output(i)->name.empty()) {
                cast_after(node, node.output(i), slot->type());
            }
        }
    }

    void set_type(ir::Node& node, std::string_view attribute, ElementType type) {
        std::erase_if(node.attributes,
                      [&](const ir::Attribute& one) { return one.name == attribute; });
        node.attributes.push_back(
            ir::make_attribute(model_.intern(attribute), static_cast<int64_t>(type)));
    }

    ir::Node* make_cast(const ir::Node& node, ir::Value* from, std::string_view to_name,
                        ElementType to) {
        ir::Value* const inputs[] = {from};
        const std::string_view names[] = {to_name};
        ir::Node* cast = model_.make_node("", "Cast", inputs, names);
        set_type(*cast, "to", to);
        cast->metadata = node.metadata;
        cast->span = node.span;
        cast->output()->type = from->type;
        cast->output()->type.set_element_type(to);
        return cast;
    }

    // The value as the type, for the node; once for all nodes of its graph.
    ir::Value* cast_before(ir::Node& node, ir::Value* value, ElementType type) {
        ir::Value*& cast = casts_[{value, type}];
        if (cast == nullptr) {
            ir::Node* made = make_cast(node, value, fresh_name(value->name, type), type);
            node.graph()->insert(made, &node);
            cast = made->output();
        }
        return cast;
    }

    // The node gives another type; what it gave keeps its name.
    void cast_after(ir::Node& node, ir::Value* value, ElementType type) {
        ir::Node* cast = make_cast(node, value, value->name, value->type.element_type());
        ir::Value* result = cast->output();
        result->constant = std::move(value->constant);
        result->content = std::move(value->content);
        value->constant.reset();
        value->replace_uses_with(result);
        cast->set_input(0, value);
        for (ir::Graph* graph : graphs_) {
            std::replace(graph->outputs.begin(), graph->outputs.end(), value, result);
        }
        value->name = fresh_name(value->name, type);
        value->type.set_element_type(type);
        node.graph()->insert(cast, node.next());
    }

    std::string_view fresh_name(std::string_view name, ElementType type) {
        std::string fresh = fmt::format("{}_{}", name, info(type).schema_name);
        for (size_t i = 2; names_.count(fresh) != 0; ++i) {
            fresh = fmt::format("{}_{}_{}", name, info(type).schema_name, i);
        }
        return *names_.insert(model_.intern(fresh)).first;
    }

    ir::Model& model_;
    Runtime runtime_;
    std::vector<ir::Graph*> graphs_;
    std::unordered_set<std::string_view> names_;
    std::map<std::pair<ir::Value*, ElementType>, ir::Value*> casts_;
    std::vector<std::string> refused_;
};

// The metadata of nodes need a version of the format that is newer than that of many releases.
Result<void> fit_format(ir::Model& model, Runtime runtime) {
    int64_t newest = limits_of(runtime).ir;
    if (proto::needed_ir_version(model) > newest) {
        StripRequest request{.docs = false,
                             .metadata = true,
                             .types = false,
                             .names = false,
                             .unused = false,
                             .notes = false};
        SDX_TRY(strip(model, request));
    }
    if (int64_t needed = proto::needed_ir_version(model); needed > newest) {
        return Error{fmt::format("{} reads versions of the format up to {}, and the model needs {}",
                                 words_of(runtime), newest, needed)};
    }
    return {};
}

}  // namespace

Result<void> fit_runtime(ir::Model& model, Runtime runtime) {
    SDX_TRY(main_graph(model));
    SDX_TRY(opset_for(runtime, model.opset_version(""), 0));
    if (!model.functions.empty()) {
        inline_calls(model);
        remove_unused(model);
    }
    SDX_TRY(Fitter(model, runtime).run());
    return fit_format(model, runtime);
}

}  // namespace sardonyx::models
