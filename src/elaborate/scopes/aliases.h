// Who else holds a tensor that an assignment to an item changes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// A name of a function that waits for the one that runs, and holds a tensor of it.
struct CallerName {
    Scope* scope;
    Symbol name;
};

enum class Changed : uint8_t { kTensor, kTensorInList, kList };

// Another name, read after `offset`, that holds or may hold the tensor that an assignment to an
// item of `name` changes; nothing when there is none. kTensorInList: the tensor is itself an item
// of the list of that name; kList: the value is a list that grows. `callers`: the names that hold
// it as well and can be given the changed one (aliases.cpp).
std::optional<std::string> other_holder(Context& c, const ir::Value* value, Symbol name,
                                        Changed changed, uint32_t offset,
                                        std::vector<CallerName>& callers);

// Whether a name that is read after `offset`, or another member, holds or may hold the list that
// the graph makes and that one member holds.
bool is_held_again(Context& c, const ir::Value* list, uint32_t offset);

// Whether statements assign to items of a name, and whether they bind it to something else.
struct TargetUse {
    bool items = false;
    bool whole = false;
};

TargetUse target_use(syntax::Stmts statements, Symbol name);

}  // namespace sardonyx::elaborate
