#include "elaborate/scopes/doubt.h"

#include <optional>
#include <vector>

#include "elaborate/flow/block_facts.h"
#include "elaborate/flow/effects.h"

namespace sardonyx::elaborate {

void doubt(Context& c, syntax::Stmts statements) {
    if (!c.knows_no_arguments) {
        return;
    }
    std::vector<Symbol> names = assigned_names(statements);
    for (const syntax::Stmt* statement : statements) {
        Effects effects = effects_of(c.tree(), statement, [](Symbol) { return std::nullopt; });
        for (const Touch& touch : effects.touches) {
            if (touch.flow == Flow::kChanged && c.at.scope->find(touch.name) != nullptr) {
                names.push_back(touch.name);
            }
        }
    }
    for (Symbol name : names) {
        c.at.scope->set(name, Object::error());
    }
}

}  // namespace sardonyx::elaborate
