// Plans: a graph prepared for running, so that a loop's body looks nothing up by name.
//
// Every value of a main graph or function body, and of the subgraphs nested in it, has a slot of
// the same frame: a subgraph reads the values around it like its own, and only calls of functions
// make new frames. Initializers and Constant nodes are constants of the plan, shared by all frames.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "eval/kernel.h"
#include "ir/ir.h"

namespace sardonyx::eval {

// >= 0: a slot. < 0: constant -1 - n. kNoOperand: left out.
using Operand = int32_t;
inline constexpr Operand kNoOperand = INT32_MIN;

struct FramePlan;
struct GraphPlan;

struct NodePlan {
    std::string_view domain;
    std::string_view op_type;
    std::string_view name;
    const OperatorEntry* entry = nullptr;       // null: a call of `function`
    const ir::Function* function = nullptr;     // null: an operator
    mutable const FramePlan* callee = nullptr;  // of `function`, once it has been called
    std::span<const ir::Attribute> attributes;
    std::vector<Operand> inputs;
    std::vector<Operand> outputs;   // kNoOperand: nobody wants it
    std::vector<Operand> releases;  // slots whose last use this is
    uint32_t dying = 0;             // the inputs among them, as bits
    std::vector<std::pair<std::string_view, std::unique_ptr<GraphPlan>>> subgraphs;

    const GraphPlan* subgraph(std::string_view attribute) const;
};

struct GraphPlan {
    const ir::Graph* graph = nullptr;
    std::vector<Operand> inputs;
    std::vector<Operand> outputs;
    std::vector<bool> output_moves;  // it is this graph's own, and no later output is the same
    std::vector<NodePlan> nodes;
};

struct FramePlan {
    GraphPlan graph;
    std::vector<RuntimeValue> constants;
    int32_t slot_count = 0;
};

// Functions of a model by name. Domain, name and overload are told apart by the length of each.
class FunctionTable {
  public:
    explicit FunctionTable(const ir::Model* model);
    const ir::Function* find(std::string_view domain, std::string_view name,
                             std::string_view overload) const;

  private:
    std::unordered_map<std::string, const ir::Function*> functions_;
};

// Plans a main graph or function body under these imports. Errors: an unknown operator or one
// without a kernel, attributes that do not fit, nesting too deep.
Result<std::unique_ptr<FramePlan>> make_plan(const ir::Graph& graph,
                                             std::span<const ir::OpsetImport> imports,
                                             const FunctionTable& functions);

// Plans one call of an operator with subgraphs, outside a graph: inputs are the slots 0 ... and
// outputs those after them. `imports` hold for the subgraphs.
Result<std::unique_ptr<FramePlan>> make_call_plan(const OperatorEntry& entry,
                                                  std::span<const ir::Attribute> attributes,
                                                  size_t input_count, size_t output_count,
                                                  std::span<const ir::OpsetImport> imports);

// Subgraphs and calls in each other; beyond it is recursion, or a file made to harm.
inline constexpr int kMaxDepth = 200;

}  // namespace sardonyx::eval
