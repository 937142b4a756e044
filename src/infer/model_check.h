// What is wrong with a model whatever its types are: nodes that name nothing, functions that call
// each other, defaults that are not of their input's type.
#pragma once

#include <string>
#include <vector>

#include "infer/infer.h"

namespace sardonyx::infer {

// A finding for each node, of the main graph and of the functions, that names neither an operator
// in force (of a domain that somebody knows) nor a function, or whose domain is not imported, and
// for each that gives an output without a name that its operator always has.
void check_node_names(const ir::Model& model, const ops::SchemaSet* schemas,
                      std::vector<Finding>& findings);

// The first node, of the main graph or of a function that is called, that no run can get past: it
// names nothing, or its inputs and attributes are not those of its operator; or one of the main
// graph that does not take the element types of its inputs. "node `n` (`Foo`): ...". Empty: there
// is none.
std::string first_hopeless_node(const ir::Model& model);

// A finding for each input whose default is of another type.
void check_defaults(const ir::Model& model, std::vector<Finding>& findings);

// A finding where functions call each other in a circle and nobody calls them; a circle that is
// called has its finding from the call.
void check_recursion(const ir::Model& model, std::vector<Finding>& findings);

}  // namespace sardonyx::infer
