// What has been found out about the texts of functions, each once.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/pointer_map.h"
#include "base/symbol_map.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Where names are read in a function's body.
struct BlockReads {
    struct Places {
        uint32_t begin = 0, end = 0;  // in `offsets`
    };
    SymbolMap<Places> names;
    std::vector<uint32_t> offsets;  // those of one name beside each other, sorted
    std::vector<Symbol> bases;      // names that something is taken from, as `op` in `op.Add`
    std::vector<Symbol> called;     // names that are called, as `f` in `f(x)`
};

// Which names of a function's body a value may pass between unchanged, as a union-find.
struct AliasClasses {
    std::unordered_map<uint32_t, uint32_t> parents;
    std::unordered_map<uint32_t, std::vector<uint32_t>> members;  // by root, in order
    uint32_t find(uint32_t name);
};

struct TextFacts {
    // The names that each function binds.
    PointerMap<ScriptFunction, SymbolSet> locals;
    // By the first place of the body, which no other block has. The names that it binds are asked
    // for at each lookup of a name outside of it.
    PointerMap<const syntax::Stmt*, SymbolSet> own_names;
    std::map<const syntax::Stmt* const*, BlockReads> reads;
    std::map<const syntax::Stmt* const*, AliasClasses> aliases;
    std::map<const syntax::LambdaExpr*, BlockReads> reads_of_lambdas;
    std::map<const syntax::Stmt* const*, bool> generators;  // whether a body has a `yield`
};

}  // namespace sardonyx::elaborate
