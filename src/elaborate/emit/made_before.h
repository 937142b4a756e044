// Nodes that a graph has already, where one that is about to be emitted would be equal.
#pragma once

#include <cstddef>

#include "ir/ir.h"

namespace sardonyx::elaborate {

constexpr size_t kMostUses = 64;  // of a value, among which an equal node is looked for

// The output of a node whose input at `place` is `input`, for which `is_it` holds, and that comes
// before whatever is emitted into `graph` next: it is of this graph or of one around it. Null:
// there is none among the uses.
template <typename Predicate>
ir::Value* made_before(const ir::Graph* graph, const ir::Value* input, Predicate&& is_it,
                       size_t place = 0) {
    size_t left = kMostUses;
    for (const ir::Use* use = input->first_use(); use != nullptr && left > 0; use = use->next) {
        --left;
        const ir::Node* user = use->user;
        if (use->index != place || user->graph() == nullptr || !is_it(*user)) {
            continue;
        }
        for (const ir::Graph* around = graph; around != nullptr; around = around->parent()) {
            if (around == user->graph()) {
                return user->outputs()[0];
            }
        }
    }
    return nullptr;
}

}  // namespace sardonyx::elaborate
