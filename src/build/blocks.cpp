#include "build/blocks.h"

#include <fmt/format.h>

namespace sardonyx::build {
namespace {

Result<ir::Node*> open_node(const Site& site, std::string_view op_type, std::string_view name,
                            std::span<ir::Value* const> inputs) {
    ir::Editor::NewNode wanted;
    wanted.op_type = op_type;
    wanted.name = name;
    wanted.inputs = inputs;
    return site.editor.insert(*site.graph, nullptr, wanted);
}

Result<void> set_outputs(const Site& site, std::span<ir::Value* const> values) {
    std::vector<ir::Value*> outputs;
    for (ir::Value* value : values) {
        SDX_ASSIGN(ir::Value * output, as_output(site, value, outputs));
        outputs.push_back(output);
    }
    SDX_TRY(site.editor.set_outputs(*site.graph, outputs));
    site.editor.trust();
    return {};
}

// The node with its outputs, typed.
Result<ir::Node*> finish(const Site& site, ir::Node& node, size_t outputs) {
    SDX_ASSIGN(ir::Node * whole,
               site.editor.finish(node, ir::Editor::OutputNames(outputs, std::nullopt)));
    site.editor.trust();
    if (Result<void> typed = type_node(site, *whole); !typed.ok()) {
        SDX_CHECK(site.editor.remove({&whole, 1}).ok());
        return typed.error();
    }
    return whole;
}

ir::Graph* graph_of(const ir::Node& node, std::string_view attribute) {
    const ir::Attribute* found = node.find_attribute(attribute);
    ir::Graph* const* graph = found != nullptr ? found->get<ir::Graph*>() : nullptr;
    return graph != nullptr ? *graph : nullptr;
}

Error not_kept(const Loop& loop, size_t i, const Type& type, std::string_view when) {
    return Error{
        fmt::format("carried value {} is {} {}, and the body was made for {}: give the "
                    "loop a type that holds in all iterations",
                    i, type.to_string(), when, loop.carried[i]->type.to_string())};
}

bool holds(const Type& general, const Type& special) {
    return join(general, special) == general;
}

Result<ir::Value*> add_input(const Site& site, ir::Graph& body, std::string_view hint, Type type) {
    return site.editor.add_input(body, site.editor.fresh_name(body, hint), std::move(type));
}

Result<void> fill_loop(const Site& site, Loop& loop, const LoopRequest& request) {
    SDX_ASSIGN(loop.body, site.editor.add_subgraph(*loop.node, "body", "body"));
    SDX_ASSIGN(loop.iteration, add_input(site, *loop.body, "iteration",
                                         Type::tensor(ElementType::kInt64, Shape{})));
    SDX_ASSIGN(loop.condition,
               add_input(site, *loop.body, "condition", Type::tensor(ElementType::kBool, Shape{})));
    loop.condition->content = std::make_unique<ir::SymbolicContent>();
    loop.condition->content->is_scalar = true;
    loop.condition->content->elements = {Dim(1)};  // it is true whenever the body runs
    for (size_t i = 0; i < request.carried.size(); ++i) {
        bool is_given = i < request.types.size() && request.types[i].is_known();
        const Type& first = request.carried[i]->type;
        SDX_ASSIGN(ir::Value * value, add_input(site, *loop.body, request.carried[i]->name,
                                                is_given ? request.types[i] : first));
        loop.carried.push_back(value);
        if (!holds(value->type, first)) {
            return not_kept(loop, i, first, "at first");
        }
    }
    site.editor.trust();
    return {};
}

}  // namespace

Result<ir::Node*> open_if(const Site& site, ir::Value* condition, std::string_view name) {
    return open_node(site, "If", name, {&condition, 1});
}

Result<ir::Graph*> open_branch(const Site& site, ir::Node& node, std::string_view attribute) {
    SDX_ASSIGN(ir::Graph * branch, site.editor.add_subgraph(node, attribute, attribute));
    site.editor.trust();
    return branch;
}

Result<void> close_branch(const Site& branch, std::span<ir::Value* const> values) {
    return set_outputs(branch, values);
}

Result<ir::Node*> close_if(const Site& site, ir::Node& node) {
    const ir::Graph* first = graph_of(node, "then_branch");
    const ir::Graph* second = graph_of(node, "else_branch");
    if (first == nullptr || second == nullptr) {
        return Error{"`If` needs both branches"};
    }
    if (first->outputs.size() != second->outputs.size()) {
        return Error{fmt::format("one branch gives {} values, and the other {}",
                                 first->outputs.size(), second->outputs.size())};
    }
    return finish(site, node, first->outputs.size());
}

Result<void> abandon(const Site& site, ir::Node& node, std::span<ir::Node* const> made) {
    if (node.graph() != nullptr) {
        ir::Node* whole = &node;
        SDX_TRY(site.editor.remove({&whole, 1}));
    }
    return site.editor.remove(made);
}

Result<Loop> open_loop(const Site& site, const LoopRequest& request) {
    std::vector<ir::Value*> inputs{request.trips, request.condition};
    inputs.insert(inputs.end(), request.carried.begin(), request.carried.end());
    Loop loop;
    SDX_ASSIGN(loop.node, open_node(site, "Loop", request.name, inputs));
    if (Result<void> filled = fill_loop(site, loop, request); !filled.ok()) {
        SDX_CHECK(abandon(site, *loop.node).ok());
        return filled.error();
    }
    return loop;
}

Result<ir::Node*> close_loop(const Site& site, const Loop& loop, const LoopEnd& end) {
    if (end.carried.size() != loop.carried.size()) {
        return Error{fmt::format("the loop carries {} values, and the body gives {}",
                                 loop.carried.size(), end.carried.size())};
    }
    for (size_t i = 0; i < end.carried.size(); ++i) {
        if (!holds(loop.carried[i]->type, end.carried[i]->type)) {
            return not_kept(loop, i, end.carried[i]->type, "after an iteration");
        }
    }
    std::vector<ir::Value*> outputs{end.condition != nullptr ? end.condition : loop.condition};
    outputs.insert(outputs.end(), end.carried.begin(), end.carried.end());
    outputs.insert(outputs.end(), end.stacked.begin(), end.stacked.end());
    Site body = site;
    body.graph = loop.body;
    SDX_TRY(set_outputs(body, outputs));
    return finish(site, *loop.node, outputs.size() - 1);
}

}  // namespace sardonyx::build
