// Functions: signatures, calls of scripts and nested functions, and the two ways to compile a
// script.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elaborate/context.h"
#include "elaborate/eval.h"

namespace sardonyx::elaborate {

// What an annotation says about a parameter or result.
struct Annotation {
    bool is_attribute = false;
    ir::AttributeType attribute_type = ir::AttributeType::kUndefined;
    bool is_bool = false;
    Type type;                   // of a tensor parameter; unknown: not said
    bool explicit_shape = true;  // false for bare FLOAT
};

// The meaning of an annotation; unknown ones are reported as a warning and say nothing.
Annotation read_annotation(Context& c, const syntax::Expr* annotation);
// The results of a `->` annotation: one, or those of a tuple. Nothing when there is none.
std::optional<std::vector<Annotation>> read_results(Context& c, const syntax::Expr* annotation);

// The subgraph of a body given to an operator (Scan, Loop, SequenceMap, If), whose input types
// follow from the operator's inputs and attributes. Null after an error.
ir::Graph* body_graph(Context& c, std::string_view op_type, std::span<ir::Value* const> inputs,
                      std::span<const ir::Attribute> attributes, const Closure& closure,
                      syntax::Range range);

}  // namespace sardonyx::elaborate
