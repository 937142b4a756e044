// What is known of the scripts of an elaboration: their signatures, and functions of the model that
// they have become.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/pointer_map.h"
#include "elaborate/facts.h"
#include "elaborate/objects/context.h"
#include "elaborate/signature.h"

namespace sardonyx::elaborate {

// A function of the model that a script has become for the facts of some calls.
struct Specialisation {
    ir::Function* function = nullptr;               // null: it has mistakes
    std::vector<diagnostics::Diagnostic> mistakes;  // said where no other function serves a call
    std::shared_ptr<std::vector<Fact>> facts;       // keeps alive what keys point at
};

struct Signature {
    std::shared_ptr<std::vector<BoundParameter>> parameters;
    bool has_mistakes = false;  // there is something to say of them
};

struct ScriptMemory {
    PointerMap<ScriptFunction, Signature> signatures;
    // Those of the model, by the facts that they are built for.
    std::map<std::pair<const ScriptFunction*, std::string>, Specialisation> functions;
    // Those that are being built, to refuse recursion.
    std::vector<std::pair<const ScriptFunction*, std::string>> building;
};

}  // namespace sardonyx::elaborate
