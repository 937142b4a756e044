// Whether two models compute the same in the same way.
#pragma once

#include <string>

#include "ir/ir.h"

namespace sardonyx::decompile {

// The first difference between a model and what its script was compiled to; empty: they are
// isomorphic. That is: inputs of equal types in order, and outputs in order that are made by equal
// nodes (operator, version, attributes, number of outputs, subgraphs, bodies of called functions)
// from equal values, one for one.
//
// Names are free, and the order of nodes as far as edges leave it so; element types of results may
// not contradict each other. Besides, these are equal:
// - a constant and another with the same bytes, be it an initializer or a Constant node;
// - an attribute with its default, and none;
// - a result that no node of the graph makes (an input, or a value of the graph around it, or one
//   that is a result already), and the Identity of it, which a script returns;
// - the conditions of a Loop that always goes on: none or true before it, and in its body true or
//   what it was.
// Nodes and functions that no output needs are not looked at, nor documentation and metadata. Of a
// library, all functions are compared, which go by their names.
//
// `loses_shapes`: whether inputs or results of subgraphs have sizes in the model that are unknown
// in what was compiled. Runtimes need it at times: a loop without iterations gives rows of that
// shape.
std::string difference(const ir::Model& model, const ir::Model& compiled,
                       bool* loses_shapes = nullptr);

}  // namespace sardonyx::decompile
