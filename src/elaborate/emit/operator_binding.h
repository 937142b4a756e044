// Which of an operator's inputs and attributes each argument of a call is.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Whether an opset has this operator, deprecated or not; nothing: its domain has no schemas.
std::optional<bool> has_operator(const Context& c, const OpsetObject& opset, std::string_view name);

const ops::Schema* find_operator(Context& c, const OpsetObject& opset, std::string_view name,
                                 const Arguments& arguments, bool& is_known);

struct BoundInput {
    const Object* object = nullptr;  // null or None: left out
    syntax::Range range;
};

struct BoundCall {
    std::vector<BoundInput> inputs;
    std::vector<ir::Attribute> attributes;
    std::vector<std::pair<std::string_view, syntax::Range>> attribute_ranges;
    bool failed = false;
};

void bind_keyword(Context& c, const ops::Schema& schema, const KeywordArgument& keyword,
                  BoundCall& call);

void check_inputs(Context& c, const ops::Schema& schema, const Arguments& arguments,
                  BoundCall& call);

void check_required(Context& c, const ops::Schema& schema, const Arguments& arguments,
                    BoundCall& call);

BoundCall bind(Context& c, const ops::Schema& schema, const Arguments& arguments);

}  // namespace sardonyx::elaborate
