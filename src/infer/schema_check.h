// The checks that need nothing but the schema: counts of inputs and outputs, the types that a type
// variable admits, one type for one variable, names, types and values of attributes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infer/node_context.h"

namespace sardonyx::infer {

// What is wrong with a node whatever the types of its inputs are.
struct SignatureProblem {
    const diagnostics::Kind* kind;
    std::string message;
    int input = -1;                   // that it is about
    std::string_view attribute = {};  // that it is about
    std::string help = {};
};
std::vector<SignatureProblem> signature_problems(const ir::Node& node, const ops::Schema& schema);

// What is wrong with these types of its inputs; of an unknown type nothing is. Empty: nothing.
std::string type_problem(const ir::Node& node, const ops::Schema& schema,
                         std::span<const Type> types);

void check_against_schema(NodeContext& c);

}  // namespace sardonyx::infer
