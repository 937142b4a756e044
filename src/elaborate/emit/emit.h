// Emission: nodes at the end of the current graph, typed at once; findings become diagnostics at
// the argument to blame.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

struct NodeRequest {
    std::string_view domain;
    int64_t version = 0;  // of the domain
    std::string_view op_type;
    std::string_view overload;
    std::span<ir::Value* const> inputs;
    std::vector<ir::Attribute> attributes;
    size_t output_count = 1;
    syntax::Range range;  // of the expression
    // Where the arguments stand, by input index; and the attributes, by name. May be fewer.
    std::span<const syntax::Range> input_ranges;
    std::span<const std::pair<std::string_view, syntax::Range>> attribute_ranges;
    bool subgraphs_are_typed = true;
};

// Null after a limit has been exceeded.
ir::Node* emit_node(Context& c, NodeRequest request);

// The value as an object; null, after a diagnostic, as the error object.
inline Object as_object(ir::Value* value) {
    return value != nullptr ? Object::tensor(value) : Object::error();
}

// The same as a Python number.
inline Object as_number(ir::Value* value) {
    return value != nullptr ? Object::number(value) : Object::error();
}

// Takes out all nodes of a graph that was tried and thrown away, so that it uses no values any
// more.
void discard(ir::Graph& graph);

// The same for the nodes behind `last`; null: all.
void discard_behind(ir::Graph& graph, const ir::Node* last);

}  // namespace sardonyx::elaborate
