// Attributes of functions as parameters.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "decompile/text.h"
#include "ir/ir.h"

namespace sardonyx::decompile {

// The annotation of an attribute parameter; empty: there is none.
std::string_view attribute_annotation(ir::AttributeType type);

// The value of an attribute that is a number, a text or a list of them; nothing: it is none.
std::optional<Expression> plain_value(const ir::Attribute& attribute);

// The types of the attributes that a body refers to, by name.
std::map<std::string, ir::AttributeType> referenced_types(const ir::Graph& body);
// That of an attribute to which the body does not refer, by the calls of the function that give it;
// kInt: there are none.
ir::AttributeType given_type(const ir::Model& model, const ir::Function& function,
                             std::string_view name);

}  // namespace sardonyx::decompile
