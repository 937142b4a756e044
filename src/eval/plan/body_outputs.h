// The types of what the bodies of loops give: they say what a scan output is where no iteration
// runs. Where a model does not declare them, or not their sizes, inference finds them.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/ir.h"

namespace sardonyx::eval {

class BodyOutputs {
  public:
    BodyOutputs() = default;  // of no model: what is declared
    // Of a model's main graph and functions, which are typed by their calls; `called`: a function
    // that is to be run as a main graph; null: none.
    BodyOutputs(const ir::Model& model, const ir::Function* called);

    // The types of the outputs of a subgraph.
    std::vector<Type> of(const ir::Graph& graph) const;

  private:
    std::unordered_map<const ir::Graph*, std::vector<Type>> inferred_;
};

}  // namespace sardonyx::eval
