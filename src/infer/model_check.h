// What is wrong with a model whatever its types are: nodes that name nothing, and functions that
// call each other.
#pragma once

#include <string>
#include <vector>

#include "infer/infer.h"

namespace sardonyx::infer {

// A finding for each node, of the main graph and of the functions, that names neither an operator
// in force (of a domain that somebody knows) nor a function, or whose domain is not imported.
void check_node_names(const ir::Model& model, const ops::SchemaSet* schemas,
                      std::vector<Finding>& findings);

// The same for the first such node of the main graph: "node `n` (`Foo`): ...". Empty: there is
// none.
std::string first_nameless_node(const ir::Model& model);

// A finding where functions call each other in a circle and nobody calls them; a circle that is
// called has its finding from the call.
void check_recursion(const ir::Model& model, std::vector<Finding>& findings);

}  // namespace sardonyx::infer
