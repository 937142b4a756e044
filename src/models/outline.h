// Repeated equal blocks of a graph as functions.
#pragma once

#include <cstddef>
#include <string_view>

#include "ir/ir.h"

namespace sardonyx::models {

// The domain of the functions that outline() makes.
inline constexpr std::string_view kOutlineDomain = "blocks";

struct Outlined {
    size_t functions = 0, calls = 0;
};

// Where the same nodes stand in the main graph several times one behind the other, from the same
// inputs in the same way, makes a function of them that is called as often: weights and other
// values that differ become its inputs, small tensors that are the same in all become constants in
// it. The results are the same to the last bit; inline_calls() gives the nodes back. Blocks that
// hold graphs stay, and so does a model that has functions of this domain already.
Outlined outline(ir::Model& model);

}  // namespace sardonyx::models
