// The invariants of ir.h, checked: for tests, and after each pass in debug builds.
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"

namespace sardonyx::ir {

// What is wrong with the model's structure, in the order of the model; empty when nothing is. Says
// nothing about operators: whether their inputs and attributes are legal is the business of infer.
//
// - A value has one producer, or is a graph input or an initializer (an input with a default is
//   both), and knows its place.
// - A node uses only values that are defined before it, in its graph or in the graphs around it;
//   graph outputs are in sight.
// - The names of values are not empty, and differ from the names that are in sight where they are
//   defined: the two branches of an If may use the same names, and so may values that are defined
//   after it. An output that nobody wants may have an empty name.
// - The use lists hold exactly the inputs of the nodes, and node lists are linked both ways.
// - A subgraph stands in one node, and its parent is the graph of that node.
// - Attribute references stand in functions only, and name a declared parameter. Functions differ
// in
//   domain, name or overload, make their outputs themselves, and have no initializers.
std::vector<std::string> verify(const Model& model);

}  // namespace sardonyx::ir
