// Copies of models.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ir/ir.h"

namespace sardonyx::ir {

// A model that says the same and shares nothing that can be changed: tensors keep their storage,
// which nobody writes to.
std::unique_ptr<Model> copy(const Model& model);

struct Spliced {
    std::vector<Node*> nodes;
    std::vector<Value*> initializers;  // in the outermost graph around `graph`
    std::vector<Function*> functions;
    std::vector<Value*> outputs;
};
// Puts copies of the nodes of a model's main graph at the end of `graph`, where `inputs` stand for
// the inputs of that graph. Functions that the model has already, as they are, are not copied; one
// whose name is taken gets an overload. `name_of` gives a value its name.
Spliced splice(Model& to, Graph& graph, const Model& from, std::span<Value* const> inputs,
               const std::function<std::string(std::string_view)>& name_of);
// Puts copies of the nodes of a function's body before a call of it, which stays. Attributes are
// those of the call, or the defaults; one that has neither is left out.
Spliced expand(Model& model, Node& call, const Function& function,
               const std::function<std::string(std::string_view)>& name_of);

}  // namespace sardonyx::ir
