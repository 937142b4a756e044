// Objects as attributes of nodes.
#pragma once

#include <optional>
#include <string_view>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// An attribute of this type from an object; a diagnostic and nothing when it does not fit.
// kUndefined: the type that the object implies.
std::optional<ir::Attribute> make_attribute(Context& c, std::string_view name,
                                            ir::AttributeType type, const Object& object,
                                            syntax::Range range);

}  // namespace sardonyx::elaborate
