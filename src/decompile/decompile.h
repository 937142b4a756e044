// A model as the text of a script.
//
// The text is Python that `build` turns back into a model that is isomorphic to the first one
// (isomorphic.h says what that means): each function of the model that the graph calls is a
// `@script`, and so is the graph; subgraphs are `@graph` bodies. Nodes whose results nobody reads
// are left out.
//
// A model is hostile: its names become identifiers of our own making, its texts are escaped, and
// what Python cannot say as this language has it is an error, never another meaning.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/ir.h"

namespace sardonyx::decompile {

// Where the tensors are that are too large for a literal.
enum class Weights : uint8_t {
    kLiterals,   // nowhere: all of them are literals
    kReference,  // initializers of the main graph are read from the model's own file
    kFile,       // in a new .safetensors file, where it can hold them
};

// How control flow is written.
enum class ControlFlow : uint8_t {
    kStatements,  // `if`, `for` and `while`, where they are likely to become the same nodes again
    kBodies,      // always as operators with `@graph` bodies
};

struct Options {
    Weights weights = Weights::kLiterals;
    std::string weights_path;  // as the script is to name that file
    ControlFlow control_flow = ControlFlow::kStatements;
    bool annotates_results = true;  // false: the types that the model states of them are wrong
    bool annotates_bodies = false;  // the inputs and results of `@graph` bodies that state sizes
    std::string source;             // what the model is called in the first line; empty: nothing
};

struct Script {
    std::string text;
    std::string entry;  // the name of the main graph's script; empty: functions alone
    // For Weights::kFile, in the order of the text.
    std::vector<std::pair<std::string, Tensor>> weights;
};

// Whether it is functions alone: its graph is empty.
bool is_library(const ir::Model& model);

// Error: what the language has no words for, with the node.
Result<Script> decompile(const ir::Model& model, const Options& options = {});

}  // namespace sardonyx::decompile
