// Type and shape inference, node by node.
//
// infer_node() takes a node whose inputs are typed and gives types (and, for shape computations,
// symbolic contents or constants) to its outputs. It never fails: what contradicts the operator's
// definition becomes a Finding, and the outputs keep whatever is still certain. Operators are rows
// of infer/operators.def; a row names one function, shared by all versions that agree.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "ir/ir.h"

namespace sardonyx::ops {
class SchemaSet;
}

namespace sardonyx::infer {

// A mistake at a node, with the argument to blame, so that the caller can mark it in the source.
struct Finding {
    const diagnostics::Kind* kind = nullptr;
    std::string message;
    std::string help;
    int input = -1;              // index of the input that is wrong; -1: none in particular
    int other_input = -1;        // an input that it disagrees with
    std::string_view attribute;  // name of the attribute that is wrong; empty: none
    diagnostics::Span span;      // of the node; inside a called function, the place there
};

// One call of a model-local function that inference is inside of.
struct Call {
    const ir::Function* function = nullptr;
    // Of the calling node; what they refer to is looked up in `outer`.
    std::span<const ir::Attribute> attributes;
    const Call* outer = nullptr;
};

class CallCache;  // of infer/call_cache.h

// Sees the body of a function that a call has typed, before its types are forgotten. A call of the
// same types is not walked again.
using BodyVisitor = std::function<void(const ir::Function&)>;

// What inference needs to know beside the node.
struct Context {
    ir::Model* model =
        nullptr;  // for model-local functions, names of fresh dims, and opset imports
    // The imports in force: of the function that the node stands in, else of the model.
    std::span<const ir::OpsetImport> opset_imports;
    const ops::SchemaSet* schemas = nullptr;   // of operators of other domains; null: none
    std::vector<Finding>* findings = nullptr;  // null: not wanted
    // Counts the fresh dims "unk__0", "unk__1", ... that stand for sizes only known at run time.
    // Deterministic: in the order in which they are met.
    int* fresh_dims = nullptr;
    // The subgraphs of control flow are typed already (elaborate emits them so): do not walk them
    // again.
    bool subgraphs_are_typed = false;
    // Nesting of functions and subgraphs, which is limited.
    int depth = 0;
    // The innermost call; null: outside of functions, or in a function for all its possible calls.
    const Call* call = nullptr;
    // Nodes of called functions and of loop bodies that may still be walked: nested calls and loops
    // multiply. Null: each outermost call has kMaxSteps of its own.
    int64_t* steps = nullptr;
    // What calls have given before. Null: each outermost call has its own memory.
    CallCache* calls = nullptr;
    const BodyVisitor* typed_body = nullptr;  // null: not wanted
};

inline constexpr int kMaxDepth = 100;
inline constexpr size_t kMaxCalls = 5'000;  // of functions that call each other
inline constexpr int64_t kMaxSteps = 500'000;

// Types one node. Known output types (from value_info or annotations) are merged with what is
// inferred; where they contradict it, there is a Finding and the inferred type wins.
void infer_node(const Context& context, ir::Node& node);

// Types every node of a graph whose inputs are typed, and of its subgraphs.
void infer_graph(const Context& context, ir::Graph& graph);

// Types the main graph of a model. Calls of model-local functions are typed by walking the
// function's body under the types of the call (the body's own values are left untyped).
std::vector<Finding> infer_model(ir::Model& model, const ops::SchemaSet* schemas = nullptr,
                                 const BodyVisitor* typed_body = nullptr);

// The types of a function's outputs for these types of its inputs and these attributes of the call;
// unknown where the body does not tell. `inputs` may carry constants and contents.
std::vector<Type> infer_call(const Context& context, const ir::Function& function,
                             std::span<ir::Value* const> inputs,
                             std::span<const ir::Attribute> attributes);

}  // namespace sardonyx::infer
