#include "elaborate/files/script_text.h"

#include <algorithm>

#include "syntax/imports.h"
#include "syntax/visit.h"

namespace sardonyx::elaborate {

bool imports_scripts(std::string_view source) {
    return syntax::imports_package(source, "sardonyx") ||
           syntax::imports_package(source, "onnxscript");
}

DecoratorName decorator_name(const syntax::Expr* decorator) {
    if (const auto* call = syntax::maybe_as<syntax::CallExpr>(decorator)) {
        decorator = call->callee;
    }
    const auto* member = syntax::maybe_as<syntax::AttributeExpr>(decorator);
    const auto* root =
        syntax::maybe_as<syntax::NameExpr>(member != nullptr ? member->value : decorator);
    return root == nullptr     ? DecoratorName{}
           : member == nullptr ? DecoratorName{root->name, {}}
                               : DecoratorName{root->name, member->name};
}

bool has_script_decorator(const syntax::Tree& tree, const syntax::FunctionDefStmt* definition) {
    return std::any_of(definition->decorators.begin(), definition->decorators.end(),
                       [&tree](const syntax::Expr* one) {
                           DecoratorName name = decorator_name(one);
                           Symbol last = name.member.valid() ? name.member : name.root;
                           return last.valid() && tree.names.text(last) == "script";
                       });
}

static bool writes_scripts_in(const syntax::Tree& tree, syntax::Stmts statements) {
    bool found = false;
    for (const syntax::Stmt* statement : statements) {
        const auto* definition = syntax::maybe_as<syntax::FunctionDefStmt>(statement);
        found = found || (definition != nullptr && has_script_decorator(tree, definition));
        syntax::each_child(
            statement, [](const syntax::Expr*) {},
            [&](const syntax::Stmt* inner) {
                found = found || writes_scripts_in(tree, syntax::Stmts(&inner, 1));
            });
    }
    return found;
}

bool writes_scripts(const syntax::Tree& tree) {
    return writes_scripts_in(tree, tree.body);
}

}  // namespace sardonyx::elaborate
