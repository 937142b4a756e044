// Small graphs that fit by type: operators of any version, branches, loops, scans and functions
// over operands of odd shapes, built with the value of each name, which the operators give one by
// one. The prepared graph must give the same: on one thread and on two, a second time, with an
// observer, after a way through a file, and with its constants folded. A node that fails on its own
// must fail there too.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/check.h"
#include "eval/eval.h"
#include "eval/loops/strided.h"
#include "eval/run/observer.h"
#include "ir/ir.h"
#include "ir/verify.h"
#include "operands.h"
#include "ops/ops.h"
#include "proto/proto.h"
#include "rewrite/fold_constants.h"

namespace {

using namespace sardonyx;
using eval::RuntimeValue;
using fuzz::Bytes;

using Values = std::unordered_map<const ir::Value*, RuntimeValue>;
// Attribute parameters of the function that runs.
using Parameters = std::map<std::string_view, ir::Attribute>;
using Results = std::vector<RuntimeValue>;

constexpr size_t kMostNodes = 12;
constexpr int kMostDepth = 2;

eval::RunOptions small_options(int threads) {
    eval::RunOptions options;
    options.max_steps = 100'000;
    options.max_bytes = 1 << 20;
    options.threads = threads;
    return options;
}

// --- Node by node --------------------------------------------------------------------------------

const Tensor* one_element(const RuntimeValue& value, ElementType type) {
    bool fits =
        value.is_tensor() && value.tensor().element_type() == type && value.tensor().count() == 1;
    return fits ? &value.tensor() : nullptr;
}

// The element at `index` of an axis; the type is not packed.
Tensor part_of(const Tensor& whole, int axis, int64_t index) {
    eval::AxisView view = eval::axis_view(whole.dims(), axis);
    Dims dims = whole.dims();
    dims.erase(dims.begin() + axis);
    Tensor part = Tensor::zeros(whole.element_type(), dims);
    for (int64_t o = 0; o < view.outer && part.count() > 0; ++o) {
        eval::copy_elements(whole, (o * view.n + index) * view.inner, part, o * view.inner,
                            view.inner);
    }
    return part;
}

// An axis of [-rank, rank) as [0, rank); -1: it is none.
int axis_of(int64_t axis, int rank) {
    return axis < -rank || axis >= rank ? -1 : static_cast<int>(axis < 0 ? axis + rank : axis);
}

// Error where there is nothing to say of the type, or the parts differ.
Result<RuntimeValue> stacked(const Results& parts, int64_t axis, bool is_reversed) {
    if (parts.empty() || !parts[0].is_tensor() || axis_of(axis, parts[0].tensor().rank() + 1) < 0) {
        return Error{"no parts, or no such axis"};
    }
    const Tensor& first = parts[0].tensor();
    for (const RuntimeValue& part : parts) {
        if (!part.is_tensor() || part.tensor().element_type() != first.element_type() ||
            part.tensor().dims() != first.dims()) {
            return Error{"the parts differ"};
        }
    }
    int place = axis_of(axis, first.rank() + 1);
    Dims dims = first.dims();
    dims.insert(dims.begin() + place, static_cast<int64_t>(parts.size()));
    eval::AxisView view = eval::axis_view(dims, place);
    Tensor whole = Tensor::zeros(first.element_type(), dims);
    for (int64_t i = 0; i < view.n; ++i) {
        const Tensor& part = parts[is_reversed ? view.n - 1 - i : i].tensor();
        for (int64_t o = 0; o < view.outer && part.count() > 0; ++o) {
            eval::copy_elements(part, o * view.inner, whole, (o * view.n + i) * view.inner,
                                view.inner);
        }
    }
    return RuntimeValue(whole);
}

class Interpreter {
  public:
    explicit Interpreter(const ir::Model& model) : model_(model) {}

    Result<Results> run_node(const ir::Node& node, const Values& values,
                             const Parameters& parameters) const {
        Results inputs;
        for (const ir::Use& use : node.inputs()) {
            inputs.push_back(use.value == nullptr ? RuntimeValue() : values.at(use.value));
        }
        if (const ir::Function* function = model_.find_function(node.domain, node.op_type)) {
            return run_function(*function, node, inputs, parameters);
        }
        if (node.op_type == "If") {
            const Tensor* condition = one_element(inputs.at(0), ElementType::kBool);
            bool is_true = condition != nullptr && condition->elements<bool>()[0];
            return run_body(body_of(node, is_true ? "then_branch" : "else_branch"), {}, values,
                            parameters);
        }
        if (node.op_type == "Loop") {
            return run_loop(node, inputs, values, parameters);
        }
        if (node.op_type == "Scan") {
            return run_scan(node, inputs, values, parameters);
        }
        // What a node leaves out at the end is not there; as a value it would be an empty optional.
        while (!inputs.empty() && node.input(inputs.size() - 1) == nullptr) {
            inputs.pop_back();
        }
        std::vector<ir::Attribute> attributes;
        for (const ir::Attribute& attribute : node.attributes) {
            if (!attribute.is_reference()) {
                attributes.push_back(attribute);
            } else if (parameters.count(attribute.reference) != 0) {
                attributes.push_back(parameters.at(attribute.reference));
                attributes.back().name = attribute.name;
            }
        }
        return eval::run_operator(node.domain, node.op_type, model_.opset_version(node.domain),
                                  inputs, attributes, node.output_count(), small_options(1));
    }

  private:
    static const ir::Graph& body_of(const ir::Node& node, std::string_view name) {
        return **node.find_attribute(name)->get<ir::Graph*>();
    }

    // The body sees the values around it; what it makes stays in it.
    Result<Results> run_body(const ir::Graph& body, const Results& inputs, Values values,
                             const Parameters& parameters) const {
        for (size_t i = 0; i < body.inputs.size(); ++i) {
            values[body.inputs[i]] = inputs.at(i);
        }
        for (const ir::Value* initializer : body.initializers) {
            values[initializer] = *initializer->constant;
        }
        for (const ir::Node& node : body) {
            Result<Results> made = run_node(node, values, parameters);
            SDX_TRY(made);
            for (size_t i = 0; i < node.output_count(); ++i) {
                values[node.output(i)] = made->at(i);
            }
        }
        Results results;
        for (const ir::Value* output : body.outputs) {
            results.push_back(values.at(output));
        }
        return results;
    }

    Result<Results> run_function(const ir::Function& function, const ir::Node& call,
                                 const Results& inputs, const Parameters& outer) const {
        Parameters parameters;
        for (const ir::Attribute& attribute : function.attribute_defaults) {
            parameters[attribute.name] = attribute;
        }
        for (const ir::Attribute& attribute : call.attributes) {
            parameters[attribute.name] =
                attribute.is_reference() ? outer.at(attribute.reference) : attribute;
        }
        return run_body(*function.body, inputs, {}, parameters);
    }

    Result<Results> run_loop(const ir::Node& node, const Results& inputs, const Values& values,
                             const Parameters& parameters) const {
        const ir::Graph& body = body_of(node, "body");
        const Tensor* count = one_element(inputs.at(0), ElementType::kInt64);
        int64_t trips = count == nullptr ? INT64_MAX : count->elements<int64_t>()[0];
        const Tensor* condition = one_element(inputs.at(1), ElementType::kBool);
        bool goes_on = condition == nullptr || condition->elements<bool>()[0];
        Results carried(inputs.begin() + 2, inputs.end());
        std::vector<Results> scans(body.outputs.size() - 1 - carried.size());
        for (int64_t i = 0; i < trips && goes_on; ++i) {
            Results arguments{Tensor::scalar<int64_t>(i), Tensor::scalar<bool>(goes_on)};
            arguments.insert(arguments.end(), carried.begin(), carried.end());
            Result<Results> made = run_body(body, arguments, values, parameters);
            SDX_TRY(made);
            const Tensor* again = one_element(made->at(0), ElementType::kBool);
            if (again == nullptr) {
                return Error{"the condition is no BOOL"};
            }
            goes_on = again->elements<bool>()[0];
            std::copy_n(made->begin() + 1, carried.size(), carried.begin());
            for (size_t s = 0; s < scans.size(); ++s) {
                scans[s].push_back(made->at(1 + carried.size() + s));
            }
        }
        for (const Results& parts : scans) {
            Result<RuntimeValue> whole = stacked(parts, 0, false);
            SDX_TRY(whole);
            carried.push_back(*whole);
        }
        return carried;
    }

    Result<Results> run_scan(const ir::Node& node, const Results& inputs, const Values& values,
                             const Parameters& parameters) const {
        const ir::Graph& body = body_of(node, "body");
        auto number = [&](std::string_view name) {
            return node.find_attribute(name)->get<std::vector<int64_t>>()->at(0);
        };
        if (!inputs.back().is_tensor()) {
            return Error{"what is scanned is no tensor"};
        }
        const Tensor& scanned = inputs.back().tensor();
        int axis = axis_of(number("scan_input_axes"), scanned.rank());
        if (axis < 0) {
            return Error{"no such axis"};
        }
        int64_t steps = scanned.dims()[axis];
        Results state(inputs.begin(), inputs.end() - 1);
        std::vector<Results> scans(body.outputs.size() - state.size());
        for (int64_t i = 0; i < steps; ++i) {
            Results arguments = state;
            arguments.emplace_back(
                part_of(scanned, axis, number("scan_input_directions") != 0 ? steps - 1 - i : i));
            Result<Results> made = run_body(body, arguments, values, parameters);
            SDX_TRY(made);
            std::copy_n(made->begin(), state.size(), state.begin());
            for (size_t s = 0; s < scans.size(); ++s) {
                scans[s].push_back(made->at(state.size() + s));
            }
        }
        for (const Results& parts : scans) {
            Result<RuntimeValue> whole =
                stacked(parts, number("scan_output_axes"), number("scan_output_directions") != 0);
            SDX_TRY(whole);
            state.push_back(*whole);
        }
        return state;
    }

    const ir::Model& model_;
};

// --- Building ------------------------------------------------------------------------------------

ElementType type_of(const RuntimeValue& value) {
    return value.is_tensor()     ? value.tensor().element_type()
           : value.is_sequence() ? value.sequence().element_type
                                 : ElementType::kUndefined;
}

bool is_unpacked_tensor(const RuntimeValue& value) {
    return value.is_tensor() &&
           (type_of(value) == ElementType::kString || info(type_of(value)).bits >= 8);
}

// A graph under construction: what its nodes may use, and which of it is its own.
struct Scope {
    ir::Graph* graph = nullptr;
    Values values;
    std::vector<ir::Value*> in_sight;
    std::vector<ir::Value*> own;  // made by its nodes
    int depth = 0;
    bool is_main = false;
    ir::Function* function = nullptr;  // that it is the body of
};

class Builder {
  public:
    Builder(Bytes& bytes, ir::Model& model) : bytes_(bytes), model_(model), interpreter_(model) {}

    // The main graph, after the functions that it may call.
    Scope build() {
        for (int64_t n = bytes_.small(0, 2); n > 0; --n) {
            add_function();
        }
        Scope scope;
        scope.graph = model_.graph = model_.make_graph(nullptr);
        scope.graph->name = "g";
        scope.is_main = true;
        for (size_t n = 0; n < kMostNodes && !bytes_.at_end() && !has_failed_; ++n) {
            add_any(scope);
        }
        return scope;
    }

    const std::vector<std::pair<std::string_view, RuntimeValue>>& inputs() const { return inputs_; }
    // Whether the last node fails.
    bool has_failed() const { return has_failed_; }

  private:
    std::string_view fresh_name() { return model_.intern("v" + std::to_string(names_++)); }

    void add_any(Scope& scope) {
        int kind = bytes_.next() % 16;
        if (kind == 0 && scope.depth < kMostDepth) {
            add_if(scope);
        } else if (kind == 1 && scope.depth < kMostDepth) {
            add_loop(scope);
        } else if (kind == 2 && scope.depth < kMostDepth) {
            add_scan(scope);
        } else if (kind == 3 && !functions_.empty() && scope.function == nullptr) {
            add_call(scope);
        } else {
            add_operator(scope);
        }
    }

    // Runs the node; where it works, puts it in. Where it fails it is left out, or, at times, the
    // last node of the main graph.
    void add_node(Scope& scope, ir::Node* node) {
        Parameters parameters;
        if (scope.function != nullptr) {
            for (const ir::Attribute& attribute : scope.function->attribute_defaults) {
                parameters[attribute.name] = attribute;
            }
        }
        Result<Results> made = interpreter_.run_node(*node, scope.values, parameters);
        if (!made.ok()) {
            if (scope.is_main && bytes_.one_in(16)) {
                has_failed_ = true;
                scope.graph->insert(node);
                scope.own.assign(node->outputs().begin(), node->outputs().end());
            } else {
                discard(node);
            }
            return;
        }
        scope.graph->insert(node);
        for (size_t i = 0; i < node->output_count(); ++i) {
            scope.values[node->output(i)] = made->at(i);
            scope.own.push_back(node->output(i));
            scope.in_sight.push_back(node->output(i));
        }
    }

    // A node that is in no graph uses nothing.
    static void discard(ir::Node* node) {
        for (size_t i = 0; i < node->input_count(); ++i) {
            node->set_input(i, nullptr);
        }
        for (const ir::Attribute& attribute : node->attributes) {
            if (ir::Graph* const* body = attribute.get<ir::Graph*>()) {
                discard(*body);
            }
        }
    }
    static void discard(ir::Graph* body) {
        for (ir::Node& node : *body) {
            discard(&node);
        }
    }

    ir::Node* make_node(std::string_view domain, std::string_view op_type,
                        const std::vector<ir::Value*>& inputs, size_t output_count) {
        std::vector<std::string_view> names(output_count);
        std::generate(names.begin(), names.end(), [&] { return fresh_name(); });
        return model_.make_node(domain, op_type, inputs, names);
    }

    // A value from outside: an input of the main graph, an initializer, or a Constant.
    ir::Value* add_operand(Scope& scope, RuntimeValue value) {
        ir::Value* made = nullptr;
        if (scope.is_main && (!value.is_tensor() || bytes_.next() % 2 == 0)) {
            Type type = Type::tensor(type_of(value));
            made = model_.add_input(scope.graph, fresh_name(),
                                    value.is_sequence() ? Type::sequence(type) : type);
            inputs_.emplace_back(made->name, value);
        } else if (!value.is_tensor()) {
            return nullptr;
        } else if (scope.function == nullptr && bytes_.next() % 2 == 0) {
            made = model_.add_initializer(scope.graph, fresh_name(), value.tensor());
        } else {
            ir::Node* node = make_node("", "Constant", {}, 1);
            node->attributes.push_back(ir::make_attribute(model_.intern("value"), value.tensor()));
            scope.graph->insert(node);
            made = node->output();
            scope.own.push_back(made);
        }
        scope.values[made] = std::move(value);
        scope.in_sight.push_back(made);
        return made;
    }

    Dims odd_dims() {
        Dims dims;
        for (int64_t n = bytes_.small(0, 3); n > 0; --n) {
            dims.push_back(bytes_.one_in(16) ? 0 : bytes_.small(1, 3));
        }
        if (!dims.empty() && bytes_.one_in(64)) {
            dims.back() = 1 << 12;  // enough for several threads
        }
        return dims;
    }

    // Something in sight that a parameter admits, or something new. Null: left out.
    ir::Value* operand(Scope& scope, const ops::TypeSet& types, ElementType& bound) {
        if (bytes_.one_in(32)) {
            return nullptr;
        }
        std::vector<ir::Value*> fitting;
        for (ir::Value* candidate : scope.in_sight) {
            const RuntimeValue& value = scope.values.at(candidate);
            ops::ElementMask mask = value.is_tensor()     ? types.tensor | types.optional_tensor
                                    : value.is_sequence() ? types.sequence
                                                          : 0;
            ElementType type = type_of(value);
            if (((mask >> static_cast<int>(type)) & 1) != 0 &&
                (bound == ElementType::kUndefined || bound == type)) {
                fitting.push_back(candidate);
            }
        }
        if (!fitting.empty() && !bytes_.one_in(4)) {
            ir::Value* chosen = fitting[bytes_.next() % fitting.size()];
            bound = type_of(scope.values.at(chosen));
            return chosen;
        }
        if (bound == ElementType::kUndefined) {
            bound = fuzz::choose(bytes_, types.tensor | types.sequence | types.optional_tensor);
        }
        if (bound == ElementType::kUndefined) {
            return nullptr;
        }
        bool is_sequence = types.sequence != 0 && (types.tensor == 0 || bytes_.next() % 2 == 0);
        return add_operand(scope, is_sequence
                                      ? fuzz::make_sequence(bytes_, bound)
                                      : RuntimeValue(fuzz::make_tensor(bytes_, bound, odd_dims())));
    }

    void add_operator(Scope& scope) {
        size_t index = bytes_.next() + 256u * bytes_.next();
        const ops::Schema& any = ops::schemas()[index % ops::schemas().size()];
        int64_t version = model_.opset_version(any.domain);
        const ops::Schema* schema = ops::find_schema(any.domain, any.name, version);
        // Chance depends on what has run before.
        if (schema == nullptr || !schema->is_deterministic || has_body(*schema)) {
            return;
        }
        std::vector<ir::Value*> inputs;
        std::vector<ElementType> bound(schema->type_variables.size(), ElementType::kUndefined);
        size_t count = schema->minimum_inputs + bytes_.next() % 3u;
        for (size_t i = 0; i < count && i < schema->maximum_inputs; ++i) {
            const ops::Parameter* parameter = schema->input(i);
            inputs.push_back(operand(scope, schema->type_variables[parameter->type_variable].types,
                                     bound[parameter->type_variable]));
        }
        size_t outputs =
            std::min<size_t>(schema->minimum_outputs + bytes_.next() % 2u, schema->maximum_outputs);
        ir::Node* node =
            make_node(schema->domain, schema->name, inputs, std::max<size_t>(outputs, 1));
        node->attributes = fuzz::make_attributes(bytes_, *schema);
        if (scope.function != nullptr) {
            refer_to_parameters(scope, *node);
        }
        add_node(scope, node);
    }

    static bool has_body(const ops::Schema& schema) {
        return std::any_of(schema.attributes.begin(), schema.attributes.end(),
                           [](const ops::AttributeSchema& attribute) {
                               return attribute.type == ops::AttributeType::kGraph;
                           });
    }

    // Makes a parameter of the function of an attribute here and there, with its value as default.
    void refer_to_parameters(Scope& scope, ir::Node& node) {
        for (ir::Attribute& attribute : node.attributes) {
            if (attribute.type != ir::AttributeType::kInt || bytes_.next() % 2 == 0) {
                continue;
            }
            ir::Attribute given = attribute;
            given.name = fresh_name();
            scope.function->attribute_defaults.push_back(given);
            attribute.reference = given.name;
            attribute.value = {};
        }
    }

    // --- Bodies

    Scope inside(const Scope& outer) {
        Scope scope = outer;
        scope.graph = model_.make_graph(outer.graph);
        scope.graph->name = "body";
        scope.own.clear();
        scope.is_main = false;
        ++scope.depth;
        return scope;
    }

    ir::Value* add_body_input(Scope& scope, RuntimeValue value) {
        ir::Value* input = model_.add_input(scope.graph, fresh_name());
        scope.values[input] = std::move(value);
        scope.in_sight.push_back(input);
        return input;
    }

    void fill(Scope& scope) {
        for (int64_t n = bytes_.small(1, 3); n > 0; --n) {
            add_any(scope);
        }
    }

    // A value of the body's own; like `wanted` in type where there is one, else a copy of it.
    ir::Value* own_value(Scope& scope, ir::Value* wanted) {
        const RuntimeValue& model = scope.values.at(wanted);
        for (size_t i = scope.own.size(); i-- > 0;) {
            const RuntimeValue& value = scope.values.at(scope.own[i]);
            if (type_of(value) == type_of(model) && value.is_tensor() == model.is_tensor() &&
                !bytes_.one_in(3)) {
                return scope.own[i];
            }
        }
        ir::Node* node = make_node("", "Identity", {wanted}, 1);
        add_node(scope, node);
        return node->graph() == nullptr ? nullptr : node->output();
    }

    ir::Value* pick(Scope& scope, bool (*fits)(const RuntimeValue&)) {
        std::vector<ir::Value*> fitting;
        for (ir::Value* value : scope.in_sight) {
            if (fits(scope.values.at(value))) {
                fitting.push_back(value);
            }
        }
        return fitting.empty() ? nullptr : fitting[bytes_.next() % fitting.size()];
    }

    void add_graph(ir::Node* node, std::string_view name, ir::Graph* graph) {
        node->attributes.push_back(ir::make_attribute(model_.intern(name), graph));
    }
    void add_ints(ir::Node* node, std::string_view name, int64_t value) {
        node->attributes.push_back(
            ir::make_attribute(model_.intern(name), std::vector<int64_t>{value}));
    }

    void add_if(Scope& scope) {
        ir::Value* condition = add_operand(scope, Tensor::scalar<bool>(bytes_.next() % 2 == 0));
        Scope then = inside(scope), other = inside(scope);
        fill(then);
        fill(other);
        size_t count = std::min({then.own.size(), other.own.size(), size_t{2}});
        if (count == 0) {
            discard(then.graph);
            discard(other.graph);
            return;
        }
        for (Scope* side : {&then, &other}) {
            side->graph->outputs.assign(side->own.end() - static_cast<ptrdiff_t>(count),
                                        side->own.end());
        }
        ir::Node* node = make_node("", "If", {condition}, count);
        add_graph(node, "then_branch", then.graph);
        add_graph(node, "else_branch", other.graph);
        add_node(scope, node);
    }

    void add_loop(Scope& scope) {
        ir::Value* count = add_operand(scope, Tensor::scalar<int64_t>(bytes_.small(1, 3)));
        ir::Value* condition =
            bytes_.next() % 2 == 0 ? nullptr : add_operand(scope, Tensor::scalar<bool>(true));
        std::vector<ir::Value*> inputs{count, condition};
        for (int64_t n = bytes_.small(0, 2); n > 0; --n) {
            if (ir::Value* carried =
                    pick(scope, [](const RuntimeValue& v) { return !v.is_none(); })) {
                inputs.push_back(carried);
            }
        }
        Scope body = inside(scope);
        add_body_input(body, Tensor::scalar<int64_t>(0));
        ir::Value* again = add_body_input(body, Tensor::scalar<bool>(true));
        for (size_t i = 2; i < inputs.size(); ++i) {
            add_body_input(body, scope.values.at(inputs[i]));
        }
        fill(body);
        std::vector<ir::Value*> outputs{own_value(body, again)};
        for (size_t i = 2; i < inputs.size(); ++i) {
            outputs.push_back(own_value(body, body.graph->inputs[i]));
        }
        add_scans(body, outputs);
        if (outputs.size() < 2 || std::count(outputs.begin(), outputs.end(), nullptr) != 0) {
            discard(body.graph);
            return;
        }
        body.graph->outputs = outputs;
        ir::Node* node = make_node("", "Loop", inputs, outputs.size() - 1);
        add_graph(node, "body", body.graph);
        add_node(scope, node);
    }

    // One of the body's tensors to be stacked.
    void add_scans(Scope& body, std::vector<ir::Value*>& outputs) {
        if (!body.own.empty() && is_unpacked_tensor(body.values.at(body.own.back()))) {
            outputs.push_back(body.own.back());
        }
    }

    void add_scan(Scope& scope) {
        ir::Value* scanned = pick(scope, [](const RuntimeValue& value) {
            return is_unpacked_tensor(value) && value.tensor().rank() > 0 &&
                   *std::max_element(value.tensor().dims().begin(), value.tensor().dims().end()) <
                       9;
        });
        if (scanned == nullptr || model_.opset_version("") < 9) {
            return;
        }
        const Tensor& whole = scope.values.at(scanned).tensor();
        int64_t axis = bytes_.small(-whole.rank(), whole.rank() - 1);
        int place = axis_of(axis, whole.rank());
        if (whole.dims()[place] == 0) {
            return;
        }
        std::vector<ir::Value*> inputs;
        ir::Value* state = pick(scope, [](const RuntimeValue& v) { return v.is_tensor(); });
        if (bytes_.next() % 2 == 0 && state != nullptr) {
            inputs.push_back(state);
        }
        size_t states = inputs.size();
        inputs.push_back(scanned);
        Scope body = inside(scope);
        for (size_t i = 0; i < states; ++i) {
            add_body_input(body, scope.values.at(inputs[i]));
        }
        add_body_input(body, part_of(whole, place, 0));
        fill(body);
        std::vector<ir::Value*> outputs;
        for (size_t i = 0; i < states; ++i) {
            outputs.push_back(own_value(body, body.graph->inputs[i]));
        }
        add_scans(body, outputs);
        if (outputs.size() != states + 1 ||
            std::count(outputs.begin(), outputs.end(), nullptr) != 0) {
            discard(body.graph);
            return;
        }
        body.graph->outputs = outputs;
        int64_t rank = body.values.at(outputs.back()).tensor().rank() + 1;
        ir::Node* node = make_node("", "Scan", inputs, outputs.size());
        add_graph(node, "body", body.graph);
        node->attributes.push_back(
            ir::make_attribute(model_.intern("num_scan_inputs"), int64_t{1}));
        add_ints(node, "scan_input_axes", axis);
        add_ints(node, "scan_input_directions", bytes_.next() % 2);
        add_ints(node, "scan_output_axes", bytes_.small(-rank, rank - 1));
        add_ints(node, "scan_output_directions", bytes_.next() % 2);
        add_node(scope, node);
    }

    // --- Functions

    void add_function() {
        ir::Function* function = model_.add_function("local", fresh_name());
        function->opset_imports = model_.opset_imports;
        function->body = model_.make_graph(nullptr);
        functions_.push_back(function);
        Scope scope;
        scope.graph = function->body;
        scope.function = function;
        Results samples;
        for (int64_t n = bytes_.small(1, 2); n > 0; --n) {
            ElementType type = element_type_from_number(bytes_.small(1, kElementTypeCount - 1));
            samples.emplace_back(fuzz::make_tensor(bytes_, type, odd_dims()));
            add_body_input(scope, samples.back());
        }
        fill(scope);
        if (scope.own.empty()) {
            functions_.pop_back();
            model_.remove_function(function);
            return;
        }
        function->body->outputs = {scope.own.back()};
        samples_.push_back(std::move(samples));
    }

    void add_call(Scope& scope) {
        size_t index = bytes_.next() % functions_.size();
        const ir::Function& function = *functions_[index];
        std::vector<ir::Value*> inputs;
        for (const RuntimeValue& sample : samples_[index]) {
            ir::Value* any = pick(scope, [](const RuntimeValue& v) { return v.is_tensor(); });
            bool fits = any != nullptr && type_of(scope.values.at(any)) == type_of(sample);
            inputs.push_back(fits ? any : add_operand(scope, sample));
        }
        ir::Node* node = make_node("local", function.name, inputs, function.body->outputs.size());
        for (const ir::Attribute& parameter : function.attribute_defaults) {
            if (bytes_.next() % 2 == 0) {
                node->attributes.push_back(ir::make_attribute(parameter.name, bytes_.number()));
            }
        }
        add_node(scope, node);
    }

    Bytes& bytes_;
    ir::Model& model_;
    Interpreter interpreter_;
    std::vector<ir::Function*> functions_;
    std::vector<Results> samples_;  // arguments that each function takes
    std::vector<std::pair<std::string_view, RuntimeValue>> inputs_;
    int names_ = 0;
    bool has_failed_ = false;
};

// --- Comparing -----------------------------------------------------------------------------------

bool same_tensor(const Tensor& a, const Tensor& b) {
    if (a.element_type() != b.element_type() || a.dims() != b.dims()) {
        return false;
    }
    if (a.element_type() == ElementType::kString) {
        auto x = a.elements<std::string>(), y = b.elements<std::string>();
        return std::equal(x.begin(), x.end(), y.begin());
    }
    std::span<const std::byte> x = a.bytes(), y = b.bytes();
    if (std::equal(x.begin(), x.end(), y.begin())) {
        return true;
    }
    // What a NaN looks like, and what lies behind the last packed element, is open.
    if (!is_floating(a.element_type()) && info(a.element_type()).bits >= 8) {
        return false;
    }
    std::optional<std::vector<double>> left = to_doubles(a, INT64_MAX);
    std::optional<std::vector<double>> right = to_doubles(b, INT64_MAX);
    return left.has_value() &&
           std::equal(left->begin(), left->end(), right->begin(), [](double p, double q) {
               return p == q ? std::signbit(p) == std::signbit(q) : std::isnan(p) && std::isnan(q);
           });
}

bool same_value(const RuntimeValue& a, const RuntimeValue& b) {
    if (a.is_tensor() && b.is_tensor()) {
        return same_tensor(a.tensor(), b.tensor());
    }
    if (a.is_sequence() && b.is_sequence()) {
        return a.sequence().items.size() == b.sequence().items.size() &&
               std::equal(a.sequence().items.begin(), a.sequence().items.end(),
                          b.sequence().items.begin(), same_value);
    }
    if (a.is_map() && b.is_map()) {
        return same_tensor(a.map().keys, b.map().keys) &&
               same_tensor(a.map().values, b.map().values);
    }
    return a.is_none() && b.is_none();
}

class Watcher final : public eval::RunObserver {
  public:
    void node_done(const ir::Node& node, std::span<const RuntimeValue* const> outputs,
                   int depth) override {
        SDX_CHECK(depth > 0 && outputs.size() <= std::max<size_t>(node.output_count(), 1));
    }
};

// Ends the run with the model and what is wrong.
[[noreturn]] void fail(const ir::Model& model, const std::string& reason) {
    std::fprintf(stderr, "%s\n%s\n", ir::dump(model).c_str(), reason.c_str());
    std::abort();
}

class Checker {
  public:
    Checker(const Builder& builder, const Scope& scope) : builder_(builder), scope_(scope) {}

    void check(const ir::Model& model) {
        auto plan = eval::prepare(model);
        if (!plan.ok() && !builder_.has_failed()) {
            fail(model, plan.error().message);
        }
        if (!plan.ok()) {
            return;  // the attributes of the last node
        }
        Watcher watcher;
        for (int threads : {1, 2, 2}) {
            compare(model, eval::run(**plan, builder_.inputs(), small_options(threads)));
        }
        compare(model, eval::run(**plan, builder_.inputs(), small_options(1), &watcher));
    }

  private:
    void compare(const ir::Model& model, const Result<Results>& results) {
        if (!results.ok()) {
            const std::string& message = results.error().message;
            if (!builder_.has_failed() || (!message_.empty() && message != message_)) {
                fail(model, message_ + "\n" + message);
            }
            message_ = message;
            return;
        }
        if (builder_.has_failed()) {
            fail(model, "the last node fails on its own only");
        }
        const std::vector<ir::Value*>& outputs = scope_.graph->outputs;
        for (size_t i = 0; i < outputs.size(); ++i) {
            const RuntimeValue& expected = scope_.values.at(outputs[i]);
            if (!same_value(results->at(i), expected)) {
                fail(model, std::string(outputs[i]->name) + " is " + text(results->at(i)) +
                                ", and by its node " + text(expected));
            }
        }
    }

    static std::string text(const RuntimeValue& value) {
        return value.is_tensor() ? to_string(value.tensor(), 64) : value.describe();
    }

    const Builder& builder_;
    const Scope& scope_;
    std::string message_;  // of the first run that failed: the others say the same
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Bytes bytes(data, size);
    ir::Model model;
    for (const ops::DomainInfo& domain : ops::domains()) {
        // The newest version half of the time.
        int64_t version = bytes.next() % 2 == 0
                              ? domain.newest_version
                              : bytes.small(domain.oldest_version, domain.newest_version);
        model.opset_imports.push_back({domain.domain, version});
    }
    model.opset_imports.push_back({"local", 1});
    Builder builder(bytes, model);
    Scope scope = builder.build();
    for (ir::Value* value : scope.own) {
        if (value == scope.own.back() || bytes.next() % 4 == 0) {
            scope.graph->outputs.push_back(value);
        }
    }
    if (scope.graph->outputs.empty()) {
        return 0;
    }
    std::vector<std::string> wrong = ir::verify(model);
    if (!wrong.empty()) {
        fail(model, wrong.front());
    }
    Checker checker(builder, scope);
    checker.check(model);
    Result<std::string> file = proto::write_model(model);
    if (!file.ok()) {
        fail(model, file.error().message);
    }
    auto read = proto::read_model(std::as_bytes(std::span<const char>(*file)), nullptr);
    if (!read.ok()) {
        fail(model, read.error().message);
    }
    checker.check(**read);
    rewrite::fold_constants(**read, 64);
    wrong = ir::verify(**read);
    if (!wrong.empty()) {
        fail(**read, wrong.front());
    }
    checker.check(**read);
    return 0;
}
