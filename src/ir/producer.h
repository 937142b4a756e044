// What models of scripts say of who made them, unless the script says something else; and what
// follows from it.
#pragma once

#include <string_view>

#include "ir/ir.h"

namespace sardonyx::ir {

inline constexpr std::string_view kProducer = "sardonyx";

// Whether a name of a dimension is one size in all items of a sequence, as in models of scripts;
// others write one name there for sizes that differ.
inline bool names_hold_in_items(const Model& model) {
    return model.producer_name == kProducer;
}

}  // namespace sardonyx::ir
