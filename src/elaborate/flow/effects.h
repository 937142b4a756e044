// What a piece of Python that is not run may do, by its text: which names it may bind, and which of
// the objects that names hold it may change. Always too much rather than too little: what is not
// known to be harmless counts as a change.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// What happens to the object of a name.
enum class Flow : uint8_t {
    kRead,     // it is looked at
    kHeld,     // what the statement binds may hold it
    kChanged,  // it may be changed, or goes where it may be
};

struct Touch {
    Symbol name;
    Symbol member;  // of `name.member`; invalid: the name itself
    Flow flow = Flow::kRead;
    // How deep in the object the parts are that this is about: 0 is the object itself, 1 its items.
    uint8_t depth = 0;
    bool is_view = false;    // parts of an array share its elements
    bool is_called = false;  // name(...) or name.member(...)
    bool is_stored = false;  // name.member = ...
};

struct Effects {
    std::vector<Touch> touches;
    std::vector<Symbol> binds;        // names of the block's own scope, bound or deleted
    std::vector<Symbol> outer_binds;  // names that `global` and `nonlocal` give to functions
    bool changes_locals = false;      // of a function: it changes what a parameter may hold
    bool may_do_anything = false;     // exec(...), globals(), sys.modules: any name of the file
};

// The object of a name where the text stands, for what calls of it do; nothing: not known.
using NameMeaning = std::function<std::optional<Object>(Symbol)>;

// Of one statement of the top of a file.
Effects effects_of(const syntax::Tree& tree, const syntax::Stmt* statement,
                   const NameMeaning& meaning);

// Of a call of a function. `is_script`: it is a script, which changes no array that it is given.
Effects effects_of_call(const syntax::Tree& tree, const Closure& closure,
                        const NameMeaning& meaning);

}  // namespace sardonyx::elaborate
