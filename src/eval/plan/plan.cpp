#include "eval/plan/plan.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "base/stack.h"
#include "eval/dispatch/invoke.h"
#include "eval/plan/body_outputs.h"
#include "eval/plan/chains.h"
#include "eval/plan/equal_sizes.h"
#include "eval/plan/fold.h"
#include "eval/plan/gradient_slice.h"
#include "eval/plan/layout.h"
#include "eval/plan/places.h"
#include "eval/plan/rewrite.h"
#include "ir/describe.h"
#include "ir/sparse.h"

namespace sardonyx::eval {
namespace {

std::string function_key(std::string_view domain, std::string_view name,
                         std::string_view overload) {
    return fmt::format("{}:{}{}:{}{}", domain.size(), domain, name.size(), name, overload);
}

std::string describe(std::string_view domain, std::string_view op_type) {
    return domain.empty() ? fmt::format("`{}`", op_type) : fmt::format("`{}.{}`", domain, op_type);
}

// The functions of a model by name, and the plans of those that are called.
class Functions {
  public:
    Functions(const ir::Model& model, const ir::Function* called, Plan* plan)
        : plan_(plan), body_outputs_(model, called) {
        for (const ir::Function* function : model.functions) {
            by_name_.emplace(function_key(function->domain, function->name, function->overload),
                             function);
            look_for_gradients(function->body, function->opset_imports);
        }
        look_for_gradients(model.graph, model.opset_imports);
    }

    // The kernels of the user; null: none. They go before functions, which say what an operator
    // means where there is no kernel.
    const CustomOperators* custom() const { return plan_->custom.get(); }

    // Whether the model has Gradient nodes: what is differentiated is what is written, in the
    // order of ONNX, and nodes run on a tape or not, as they are called.
    bool has_gradients() const { return has_gradients_; }

    const BodyOutputs& body_outputs() const { return body_outputs_; }

    const ir::Function* find(std::string_view domain, std::string_view name,
                             std::string_view overload) const {
        if (by_name_.empty()) {
            return nullptr;
        }
        auto found = by_name_.find(function_key(domain, name, overload));
        return found != by_name_.end() ? found->second : nullptr;
    }

    // The function's plan, which plan_pending() fills.
    const FramePlan* plan_of(const ir::Function* function) {
        callees_[caller_].push_back(function);
        FramePlan*& plan = plans_[function];
        if (plan == nullptr) {
            plan = plan_->functions.emplace_back(std::make_unique<FramePlan>()).get();
            pending_.emplace_back(function, plan);
        }
        return plan;
    }

    Status plan_pending();
    // The standard has no recursion.
    Status check_recursion();

  private:
    // Writers of models import domains that they do not use, too.
    void look_for_gradients(const ir::Graph* graph, std::span<const ir::OpsetImport> imports) {
        bool may_have = graph != nullptr && ir::opset_version(imports, kTrainingDomain) != 0;
        has_gradients_ = has_gradients_ || (may_have && has_gradient(*graph));
    }

    Plan* plan_;
    BodyOutputs body_outputs_;
    bool has_gradients_ = false;
    const ir::Function* caller_ = nullptr;  // that is being planned; null: the main graph
    std::unordered_map<const ir::Function*, std::vector<const ir::Function*>> callees_;
    std::unordered_map<std::string, const ir::Function*> by_name_;
    std::unordered_map<const ir::Function*, FramePlan*> plans_;
    std::vector<std::pair<const ir::Function*, FramePlan*>> pending_;
};

// Folded constants are kept with the plan: one of them, and all of a graph, have at most so many
// bytes.
constexpr int64_t kLargestFolded = int64_t{64} << 20;
constexpr int64_t kMostFolded = int64_t{512} << 20;

// A Gradient node has a plan of its own of the nodes that it differentiates; all of these together
// have at most so many nodes.
constexpr int64_t kMostDifferentiated = int64_t{1} << 22;

class Planner {
  public:
    // Without `functions` there are only operators.
    Planner(std::span<const ir::OpsetImport> imports, Functions* functions, FramePlan* plan)
        : imports_(imports), functions_(functions), plan_(plan) {}

    // Slots of the graphs around that it reads are appended to `free`.
    Status plan_graph(const ir::Graph& graph, GraphPlan* plan, std::vector<Operand>* free) {
        if (++depth_ > kMaxDepth) {
            return Error{fmt::format("graphs are nested more than {} deep", kMaxDepth)};
        }
        if (is_stack_low()) {
            return Error{fmt::format(
                "graphs are nested {} deep, for which this thread's stack is too small", depth_)};
        }
        Level level;
        level.first_slot = plan_->slot_count;
        plan->graph = &graph;
        for (const ir::Value* input : graph.inputs) {
            plan->inputs.push_back(define(input));
        }
        for (const ir::Value* initializer : graph.initializers) {
            if (!initializer->is_graph_input() && initializer->constant.has_value()) {
                operands_[initializer] = plan_->add_constant(*initializer->constant);
            }
        }
        for (const ir::Node& node : graph) {
            SDX_TRY(plan_node(node, plan, &level));
        }
        SDX_TRY(plan_outputs(graph.outputs, plan, &level));
        plan->keeps_draws = functions_ != nullptr && functions_->has_gradients();
        if (!plan->keeps_draws) {
            rewrite_quantized(folded_, level.outside, plan->nodes, plan_);
            plan_layouts(level.outside, plan->nodes, plan_);
        }
        find_last_uses(plan, &level);
        set_lifetimes(plan, level);
        plan->chains = plan_chains(plan->nodes, *plan_);
        std::sort(level.free.begin(), level.free.end());
        level.free.erase(std::unique(level.free.begin(), level.free.end()), level.free.end());
        free->insert(free->end(), level.free.begin(), level.free.end());
        --depth_;
        return {};
    }

    Status plan_subgraphs(std::span<const ir::Attribute> attributes, NodePlan* plan,
                          std::vector<Operand>* free) {
        for (const ir::Attribute& attribute : attributes) {
            if (attribute.type != ir::AttributeType::kGraph) {
                continue;
            }
            ir::Graph* const* graph = attribute.get<ir::Graph*>();
            if (graph == nullptr || *graph == nullptr) {
                return Error{fmt::format("attribute `{}` has no graph of its own", attribute.name)};
            }
            auto subgraph = std::make_unique<GraphPlan>();
            SDX_TRY(plan_graph(**graph, subgraph.get(), free));
            subgraph->output_types =
                (functions_ != nullptr ? functions_->body_outputs() : BodyOutputs()).of(**graph);
            plan->subgraphs.emplace_back(attribute.name, std::move(subgraph));
        }
        return {};
    }

    // Releases the folded constants that no node reads: rewritten ones read the codes.
    void release_unread() {
        if (folded_.empty()) {
            return;
        }
        std::unordered_set<Operand> read;
        collect_reads(plan_->graph, &read);
        for (const auto& [constant, node] : folded_) {
            if (read.count(constant) == 0) {
                plan_->constant(constant) = RuntimeValue();
            }
        }
    }

  private:
    static void collect_reads(const GraphPlan& graph, std::unordered_set<Operand>* read) {
        read->insert(graph.outputs.begin(), graph.outputs.end());
        for (const NodePlan& node : graph.nodes) {
            read->insert(node.inputs.begin(), node.inputs.end());
            for (const auto& [name, subgraph] : node.subgraphs) {
                collect_reads(*subgraph, read);
            }
        }
    }

    // What is known of the graph being planned.
    struct Level {
        Operand first_slot = 0;  // it and the subgraphs' slots follow; see owns()
        std::vector<std::vector<Operand>> captured;    // of each node: what its subgraphs read
        std::vector<Operand> outside;                  // what subgraphs and graph outputs read
        std::unordered_map<Operand, size_t> last_use;  // of own slots: the node's index
        std::vector<Operand> free;
        std::unordered_set<Operand> pinned;  // graph outputs
    };

    // A subgraph's values are never used outside it, so every slot from first_slot on that this
    // level sees is its own.
    static bool owns(const Level& level, Operand operand) { return operand >= level.first_slot; }

    Operand define(const ir::Value* value) {
        Operand slot = plan_->slot_count++;
        operands_[value] = slot;
        return slot;
    }

    Result<Operand> find(const ir::Value* value) {
        if (value == nullptr || value->name.empty()) {
            return kNoOperand;
        }
        auto found = operands_.find(value);
        if (found == operands_.end() && value->sparse != nullptr) {
            return add_dense(*value);
        }
        if (found == operands_.end()) {
            return Error{fmt::format("value `{}` is used before it is made", value->name)};
        }
        return found->second;
    }

    // Operators read a sparse initializer as the dense tensor that it stands for.
    Result<Operand> add_dense(const ir::Value& value) {
        SDX_ASSIGN(Tensor dense, ir::dense_tensor(value, ir::kMostDensified - densified_bytes_));
        densified_bytes_ += byte_size(dense.element_type(), dense.count());
        return operands_[&value] = plan_->add_constant(std::move(dense));
    }

    static void use(Level* level, Operand operand, size_t node) {
        if (operand >= 0 && owns(*level, operand)) {
            level->last_use[operand] = node;
        } else if (operand >= 0) {
            level->free.push_back(operand);
        }
    }

    Status plan_node(const ir::Node& node, GraphPlan* graph, Level* level) {
        Status status = plan_node_parts(node, graph, level);
        if (!status.ok()) {
            return Error{fmt::format("{}: {}", ir::describe(node), status.error().message)};
        }
        return {};
    }

    Status plan_node_parts(const ir::Node& node, GraphPlan* graph, Level* level) {
        NodePlan plan;
        plan.node = &node;
        plan.domain = node.domain;
        plan.op_type = node.op_type;
        plan.name = node.name;
        plan.attributes = node.attributes;
        plan.has_references = std::any_of(node.attributes.begin(), node.attributes.end(),
                                          [](const ir::Attribute& a) { return a.is_reference(); });
        SDX_TRY(resolve(node, &plan));
        for (const ir::Use& input : node.inputs()) {
            SDX_ASSIGN(Operand operand, find(input.value));
            plan.inputs.push_back(operand);
        }
        // Trailing inputs that are left out need not be counted.
        while (!plan.inputs.empty() && plan.inputs.back() == kNoOperand) {
            plan.inputs.pop_back();
        }
        if (plan_folded(node, plan)) {
            if (plan.is_standard("DequantizeLinear")) {
                folded_.emplace(operands_[node.output(0)], std::move(plan));
            }
            return {};
        }
        std::vector<Operand>& captured = level->captured.emplace_back();
        SDX_TRY(plan_subgraphs(node.attributes, &plan, &captured));
        if (is_gradient(node)) {
            SDX_TRY(plan_differentiated(node, &plan, &captured));
        }
        level->outside.insert(level->outside.end(), captured.begin(), captured.end());
        for (const ir::Value* output : node.outputs()) {
            plan.outputs.push_back(output->name.empty() ? kNoOperand : define(output));
        }
        graph->nodes.push_back(std::move(plan));
        return {};
    }

    // Plans the part of the graph that a Gradient node names as its subgraph `y`, whose inputs are
    // the values of `xs` and `zs`. Its nodes have slots of their own there.
    Status plan_differentiated(const ir::Node& node, NodePlan* plan, std::vector<Operand>* free) {
        SDX_ASSIGN(const GradientSlice* slice, slices_.of(node));
        differentiated_ += static_cast<int64_t>(slice->nodes.size());
        if (++orders_ > kMostOrders || differentiated_ > kMostDifferentiated) {
            return Error{fmt::format(
                "gradients of gradients are nested more than {} deep, or all Gradient nodes name "
                "parts of more than {} nodes together, those of each order counted again: use "
                "fewer of them",
                kMostOrders, kMostDifferentiated)};
        }
        std::vector<std::pair<const ir::Value*, Operand>> hidden;
        auto hide = [&](const ir::Value* value) {
            auto found = operands_.find(value);
            hidden.emplace_back(value, found == operands_.end() ? kNoOperand : found->second);
        };
        Level level;
        level.first_slot = plan_->slot_count;
        auto part = std::make_unique<GraphPlan>();
        part->graph = node.graph();
        for (const ir::Value* value : slice->variables) {
            hide(value);
        }
        for (const ir::Node* inner : slice->nodes) {
            std::for_each(inner->outputs().begin(), inner->outputs().end(), hide);
        }
        std::unordered_map<const ir::Value*, Operand> given;
        for (const ir::Value* value : slice->variables) {
            part->inputs.push_back(define(value));
            given.emplace(value, part->inputs.back());
        }
        for (const ir::Node* inner : slice->nodes) {
            SDX_TRY(plan_node(*inner, part.get(), &level));
            // One of several outputs may be a value of `xs`: the one that is given counts.
            for (const ir::Value* output : inner->outputs()) {
                if (auto found = given.find(output); found != given.end()) {
                    operands_[output] = found->second;
                }
            }
        }
        SDX_TRY(plan_outputs({&slice->y, 1}, part.get(), &level));
        find_last_uses(part.get(), &level);
        set_lifetimes(part.get(), level);
        for (const auto& [value, operand] : hidden) {
            if (operand == kNoOperand) {
                operands_.erase(value);
            } else {
                operands_[value] = operand;
            }
        }
        plan->subgraphs.emplace_back("y", std::move(part));
        free->insert(free->end(), level.free.begin(), level.free.end());
        --orders_;
        return {};
    }

    static void find_last_uses(GraphPlan* graph, Level* level) {
        for (size_t index = 0; index < graph->nodes.size(); ++index) {
            NodePlan& node = graph->nodes[index];
            for (size_t i = 0; i < node.inputs.size(); ++i) {
                Operand operand = node.inputs[i];
                use(level, operand, index);
                if (FramePlan::is_constant(operand)) {
                    node.constants.add(i);
                }
            }
            for (Operand operand : level->captured[index]) {
                use(level, operand, index);
            }
            for (Operand operand : node.outputs) {
                use(level, operand, index);
            }
        }
    }

    Status resolve(const ir::Node& node, NodePlan* plan) const {
        if (functions_ != nullptr && functions_->custom() != nullptr) {
            plan->entry = functions_->custom()->find(node.domain, node.op_type);
            if (plan->entry != nullptr) {
                return {};
            }
        }
        plan->function = functions_ != nullptr
                             ? functions_->find(node.domain, node.op_type, node.overload)
                             : nullptr;
        if (plan->function != nullptr) {
            plan->callee = functions_->plan_of(plan->function);
            return {};
        }
        int64_t version = ir::opset_version(imports_, node.domain);
        if (version == 0) {
            return Error{fmt::format("the domain \"{}\" is not imported", node.domain)};
        }
        plan->entry = find_operator(node.domain, node.op_type, version);
        if (plan->entry == nullptr) {
            return Error{without_operator(node.domain, version)};
        }
        if (plan->entry->kernel == nullptr && plan->entry->control == nullptr) {
            return Error{fmt::format("version {} of the operator is not implemented",
                                     plan->entry->schema->since_version)};
        }
        return check_attributes(*plan->entry->schema, AttributeView(node.attributes, {}));
    }

    // Whether it is done once and for all.
    bool plan_folded(const ir::Node& node, const NodePlan& plan) {
        int64_t left = std::min(kLargestFolded, kMostFolded - folded_bytes_);
        std::optional<std::vector<RuntimeValue>> outputs = fold(node, plan, *plan_, left);
        if (!outputs.has_value()) {
            return false;
        }
        for (size_t i = 0; i < node.output_count(); ++i) {
            RuntimeValue& output = (*outputs)[i];
            if (output.is_tensor() && !plan.is_standard("Constant")) {
                folded_bytes_ += byte_size(output.tensor().element_type(), output.tensor().count());
            }
            operands_[node.output(i)] = plan_->add_constant(std::move(output));
        }
        return true;
    }

    Status plan_outputs(std::span<const ir::Value* const> outputs, GraphPlan* plan, Level* level) {
        for (const ir::Value* output : outputs) {
            SDX_ASSIGN(Operand operand, find(output));
            plan->outputs.push_back(operand);
            level->outside.push_back(operand);
            if (operand >= 0 && owns(*level, operand)) {
                level->pinned.insert(operand);
            } else if (operand >= 0) {
                level->free.push_back(operand);
            }
        }
        std::unordered_set<Operand> later;
        plan->output_moves.resize(plan->outputs.size());
        for (size_t i = plan->outputs.size(); i-- > 0;) {
            Operand operand = plan->outputs[i];
            bool is_last = later.insert(operand).second;
            plan->output_moves[i] = operand >= 0 && owns(*level, operand) && is_last;
        }
        return {};
    }

    static void set_lifetimes(GraphPlan* plan, const Level& level) {
        for (const auto& [slot, node_index] : level.last_use) {
            if (level.pinned.count(slot) == 0) {
                plan->nodes[node_index].releases.push_back(slot);
            }
        }
        for (NodePlan& node : plan->nodes) {
            auto begin = node.releases.begin(), end = node.releases.end();
            std::sort(begin, end);
            for (size_t i = 0; i < node.inputs.size() && begin != end; ++i) {
                if (std::binary_search(begin, end, node.inputs[i])) {
                    node.dying.add(i);
                }
            }
        }
    }

    std::span<const ir::OpsetImport> imports_;
    Functions* functions_;
    FramePlan* plan_;
    std::unordered_map<const ir::Value*, Operand> operands_;
    GradientSlices slices_;
    FoldedNodes folded_;  // of DequantizeLinear
    int64_t folded_bytes_ = 0;
    int64_t densified_bytes_ = 0;
    int64_t differentiated_ = 0;
    int orders_ = 0;  // of the Gradient nodes that are being planned
    int depth_ = 0;
};

Status plan_frame(const ir::Graph& graph, std::span<const ir::OpsetImport> imports,
                  Functions* functions, FramePlan* plan) {
    Planner planner(imports, functions, plan);
    std::vector<Operand> free;
    SDX_TRY(planner.plan_graph(graph, &plan->graph, &free));
    planner.release_unread();
    if (!functions->has_gradients()) {
        share_places(*plan);
    }
    return {};
}

Status Functions::plan_pending() {
    while (!pending_.empty()) {
        auto [function, plan] = pending_.back();
        pending_.pop_back();
        caller_ = function;
        Status status = plan_frame(*function->body, function->opset_imports, this, plan);
        if (!status.ok()) {
            return Error{fmt::format("function {}: {}", describe(function->domain, function->name),
                                     status.error().message)};
        }
    }
    return {};
}

// Removes functions that call none of the remaining ones. From a function that then remains, every
// path of calls leads to a cycle.
Status Functions::check_recursion() {
    std::unordered_map<const ir::Function*, std::vector<const ir::Function*>> callers;
    std::unordered_map<const ir::Function*, size_t> left;
    std::vector<const ir::Function*> leaves;
    const ir::Function* start = nullptr;
    for (const auto& [function, plan] : plans_) {
        left[function] = callees_[function].size();
        for (const ir::Function* callee : callees_[function]) {
            callers[callee].push_back(function);
        }
        if (callees_[function].empty()) {
            leaves.push_back(function);
        }
    }
    while (!leaves.empty()) {
        const ir::Function* leaf = leaves.back();
        leaves.pop_back();
        for (const ir::Function* caller : callers[leaf]) {
            if (--left[caller] == 0) {
                leaves.push_back(caller);
            }
        }
    }
    for (const ir::Function* callee : callees_[nullptr]) {
        start = start == nullptr && left[callee] > 0 ? callee : start;
    }
    if (start == nullptr) {
        return {};
    }
    for (size_t step = 0; step < plans_.size(); ++step) {
        const auto& callees = callees_[start];
        start = *std::find_if(callees.begin(), callees.end(),
                              [&](const ir::Function* callee) { return left[callee] > 0; });
    }
    return Error{
        fmt::format("function {} calls itself, directly or through others: ONNX has no "
                    "recursion, use a `Loop`",
                    describe(start->domain, start->name))};
}

// The plan of a graph under these imports, and of the functions that it calls.
Result<std::shared_ptr<const Plan>> prepare_graph(const ir::Model& model, const ir::Graph& graph,
                                                  std::span<const ir::OpsetImport> imports,
                                                  const ir::Function* called,
                                                  std::shared_ptr<const CustomOperators> custom) {
    auto plan = std::make_shared<Plan>();
    plan->custom = std::move(custom);
    plan->graph = &graph;
    plan->equal_sizes = equal_sizes(model, graph);
    Functions functions(model, called, plan.get());
    SDX_TRY(plan_frame(graph, imports, &functions, &plan->main));
    SDX_TRY(functions.plan_pending());
    SDX_TRY(functions.check_recursion());
    return std::shared_ptr<const Plan>(std::move(plan));
}

}  // namespace

bool NodePlan::is_standard(std::string_view operator_type) const {
    return entry != nullptr && entry->schema->domain.empty() &&
           entry->schema->name == operator_type;
}

const GraphPlan* NodePlan::subgraph(std::string_view attribute) const {
    for (const auto& [name, plan] : subgraphs) {
        if (name == attribute) {
            return plan.get();
        }
    }
    return nullptr;
}

Result<std::shared_ptr<const Plan>> prepare(const ir::Model& model,
                                            std::shared_ptr<const CustomOperators> custom) {
    if (model.graph == nullptr) {
        return Error{"the file holds a function, not a model: there is no graph to run"};
    }
    return prepare_graph(model, *model.graph, model.opset_imports, nullptr, std::move(custom));
}

Result<std::shared_ptr<const Plan>> prepare_function(const ir::Model& model,
                                                     const ir::Function& function) {
    return prepare_graph(model, *function.body, function.opset_imports, &function, nullptr);
}

Result<std::unique_ptr<FramePlan>> make_call_plan(const OperatorEntry& entry,
                                                  std::span<const ir::Attribute> attributes,
                                                  size_t input_count, size_t output_count,
                                                  std::span<const ir::OpsetImport> imports) {
    auto plan = std::make_unique<FramePlan>();
    NodePlan& node = plan->graph.nodes.emplace_back();
    node.domain = entry.schema->domain;
    node.op_type = entry.schema->name;
    node.entry = &entry;
    node.attributes = attributes;
    SDX_TRY(check_attributes(*entry.schema, AttributeView(attributes, {})));
    for (size_t i = 0; i < input_count; ++i) {
        node.inputs.push_back(plan->slot_count++);
    }
    for (size_t i = 0; i < output_count; ++i) {
        node.outputs.push_back(plan->slot_count++);
    }
    Planner planner(imports, nullptr, plan.get());
    std::vector<Operand> free;
    SDX_TRY(planner.plan_subgraphs(attributes, &node, &free));
    return plan;
}

}  // namespace sardonyx::eval
