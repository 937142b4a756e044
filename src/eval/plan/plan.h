// Plans: a model prepared for running, so that a loop's body looks nothing up by name.
//
// Every value of a main graph or function body, and of the subgraphs nested in it, has a slot of
// the same frame, which others have before and after it (places.h): a subgraph reads the values
// around it like its own, and only calls of functions make new frames. Initializers and Constant
// nodes are constants of the plan, shared by all frames.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "eval/dispatch/custom.h"
#include "eval/dispatch/dispatch.h"
#include "eval/operators/kernel.h"
#include "ir/ir.h"

namespace sardonyx::eval {

// >= 0: a slot. < 0: constant -1 - n. kNoOperand: left out.
using Operand = int32_t;
inline constexpr Operand kNoOperand = INT32_MIN;

struct FramePlan;
struct GraphPlan;

struct NodePlan {
    const ir::Node* node = nullptr;  // null: a call outside a graph
    std::string_view domain;
    std::string_view op_type;
    std::string_view name;
    const OperatorEntry* entry = nullptr;    // null: a call of `function`
    const ir::Function* function = nullptr;  // null: an operator
    const FramePlan* callee = nullptr;       // of `function`
    std::span<const ir::Attribute> attributes;
    bool has_references = false;  // to parameters of a function, among the attributes
    std::vector<Operand> inputs;
    std::vector<Operand> outputs;   // kNoOperand: nobody wants it
    std::vector<Operand> releases;  // slots whose last use this is
    InputSet dying;                 // the inputs among them
    InputSet constants;             // the inputs that are constants of the plan
    bool is_idle = false;           // nobody reads the outputs: it runs to show them (rewrite.h)
    ChannelsLast channels_last;     // (layout.h)
    mutable NodeCache cache;
    std::vector<std::pair<std::string_view, std::unique_ptr<GraphPlan>>> subgraphs;

    const GraphPlan* subgraph(std::string_view attribute) const;
    // Whether it is this operator of the standard domain.
    bool is_standard(std::string_view operator_type) const;
};

// Neighbouring nodes of elementwise operators, each of which reads the result of an earlier one:
// see run/chain.h. A value of the chain is an input, or the result of a step.
struct ChainPlan {
    struct Step {
        std::vector<int> inputs;  // values; kLeftOut
        InputSet dying;           // the inputs among them that no later step needs
        bool is_kept = false;     // nodes after the chain read the result, or it is an output
    };
    static constexpr int kLeftOut = -1;

    size_t first = 0;             // the node of the first step; the others follow
    std::vector<Operand> inputs;  // made before the chain
    std::vector<Step> steps;      // step i makes value inputs.size() + i
};

struct GraphPlan {
    const ir::Graph* graph = nullptr;
    std::vector<Type> output_types;  // of a subgraph (body_outputs.h)
    std::vector<Operand> inputs;
    std::vector<Operand> outputs;
    std::vector<bool> output_moves;  // it is this graph's own, and no later output is the same
    std::vector<NodePlan> nodes;
    std::vector<ChainPlan> chains;  // in the order of the nodes
    bool keeps_draws = false;       // Gradient may run nodes again, with the same random numbers
};

struct FramePlan {
    GraphPlan graph;
    std::vector<RuntimeValue> constants;
    int32_t slot_count = 0;

    static bool is_constant(Operand operand) { return operand < 0 && operand != kNoOperand; }
    const RuntimeValue& constant(Operand operand) const {
        return constants[-1 - static_cast<int64_t>(operand)];
    }
    RuntimeValue& constant(Operand operand) {
        return constants[-1 - static_cast<int64_t>(operand)];
    }
    Operand add_constant(RuntimeValue value) {
        constants.push_back(std::move(value));
        return -static_cast<Operand>(constants.size());
    }
};

// A prepared model, and behind eval.h. It refers to the model's nodes and weights.
class Plan {
  public:
    // An axis of an input of the graph: of a tensor, or of the items of a sequence.
    struct Place {
        size_t input;
        size_t axis;
    };
    // The axes that are declared with one name, or one expression.
    struct EqualSizes {
        std::string name;
        std::vector<Place> places;
    };

    const ir::Graph* graph = nullptr;     // that `main` was made from
    std::vector<EqualSizes> equal_sizes;  // of the names that say more than one size
    FramePlan main;
    std::vector<std::unique_ptr<FramePlan>> functions;  // that it calls, through others too
    std::shared_ptr<const CustomOperators> custom;      // the user's kernels; may be null
};

// Plans a function of the model as the main graph. Errors: as of prepare.
Result<std::shared_ptr<const Plan>> prepare_function(const ir::Model& model,
                                                     const ir::Function& function);

// Plans one call of an operator with subgraphs, outside a graph: inputs are the slots 0 ... and
// outputs those after them. `imports` hold for the subgraphs.
Result<std::unique_ptr<FramePlan>> make_call_plan(const OperatorEntry& entry,
                                                  std::span<const ir::Attribute> attributes,
                                                  size_t input_count, size_t output_count,
                                                  std::span<const ir::OpsetImport> imports);

// Subgraphs and calls in each other; beyond it is recursion, or a file made to harm.
inline constexpr int kMaxDepth = 1200;

}  // namespace sardonyx::eval
