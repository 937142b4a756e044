#include <set>

#include "elaborate/elaborate.h"
#include "ide/answers.h"

namespace sardonyx::ide {

std::vector<Symbol> symbols(const Analysis& analysis) {
    std::vector<Symbol> result;
    if (analysis.module() == nullptr) {
        return result;
    }
    std::set<const syntax::FunctionDefStmt*> scripts;
    for (const std::shared_ptr<elaborate::ScriptFunction>& one :
         elaborate::scripts(*analysis.module())) {
        scripts.insert(one->definition);
    }
    const syntax::Tree& tree = analysis.module()->tree();
    for (const syntax::Stmt* statement : tree.body) {
        if (statement->kind != syntax::StmtKind::kFunctionDef) {
            continue;
        }
        const auto* function = static_cast<const syntax::FunctionDefStmt*>(statement);
        result.push_back({std::string(tree.names.text(function->name)),
                          scripts.count(function) != 0, function->range, function->name_range});
    }
    return result;
}

}  // namespace sardonyx::ide
