#include "ide/outline.h"

#include <algorithm>

#include "syntax/visit.h"

namespace sardonyx::ide {
namespace {

using syntax::Expr;
using syntax::Stmt;

Definition definition_of(const Stmt* statement) {
    return {syntax::maybe_as<syntax::FunctionDefStmt>(statement), as_class(statement)};
}

bool is_definition(const Definition& one) {
    return one.function != nullptr || one.type != nullptr;
}

// The blanks before the first character of the line that holds the offset.
size_t indentation(std::string_view text, uint32_t offset) {
    size_t line = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;  // npos + 1 is 0
    size_t first = std::min(text.find_first_not_of(" \t", line), text.size());
    return first - line;
}

// The statements of the blocks of one that is no definition, in order.
template <typename See>
void each_inner(const Stmt* statement, See see) {
    syntax::each_child(
        statement, [](const Expr*) {}, see);
}

class BindingReader {
  public:
    BindingReader(const syntax::Tree& tree, std::string_view text) : tree_(tree), text_(text) {}

    void block(syntax::Stmts statements) {
        for (const Stmt* one : statements) {
            statement(one);
        }
    }
    std::vector<Binding> take() { return std::move(found_); }

  private:
    void statement(const Stmt* node) {
        if (const auto* assign = syntax::maybe_as<syntax::AssignStmt>(node)) {
            for (const Expr* one : assign->targets) {
                target(one, {{}, {}, nullptr, assign->value, {}});
            }
        } else if (const auto* annotated = syntax::maybe_as<syntax::AnnAssignStmt>(node)) {
            target(annotated->target, {{}, {}, annotated->annotation, annotated->value, {}});
        } else if (const auto* loop = syntax::maybe_as<syntax::ForStmt>(node)) {
            target(loop->target, {});
        } else if (const auto* imports = syntax::maybe_as<syntax::ImportStmt>(node)) {
            aliases(imports->names);
        } else if (const auto* from = syntax::maybe_as<syntax::ImportFromStmt>(node)) {
            aliases(from->names);
        } else if (Definition one = definition_of(node); is_definition(one)) {
            add_definition(one);
            return;
        } else if (const auto* opaque = syntax::maybe_as<syntax::OpaqueStmt>(node)) {
            for (const syntax::WithItem& item : opaque->items) {
                target(item.target, {});
            }
        }
        each_inner(node, [this](const Stmt* child) { statement(child); });
    }

    void add_definition(const Definition& one) {
        sardonyx::Symbol name = one.function != nullptr        ? one.function->name
                                : one.type->head_names.empty() ? sardonyx::Symbol()
                                                               : one.type->head_names[0];
        if (name.valid()) {
            Range range =
                one.function != nullptr ? one.function->name_range : name_range(*one.type, text_);
            found_.push_back({tree_.names.text(name), range, nullptr, nullptr, one});
        }
    }

    void target(const Expr* node, Binding binding) {
        if (node == nullptr) {
            return;
        }
        if (const auto* name = syntax::maybe_as<syntax::NameExpr>(node)) {
            binding.name = tree_.names.text(name->name);
            binding.range = node->range;
            found_.push_back(binding);
        } else if (node->kind == syntax::ExprKind::kTuple ||
                   node->kind == syntax::ExprKind::kList ||
                   node->kind == syntax::ExprKind::kStarred) {
            syntax::each_child(node, [this](const Expr* child) { target(child, {}); });
        }
    }

    void aliases(std::span<const syntax::Alias> names) {
        for (const syntax::Alias& one : names) {
            std::string_view name = tree_.names.text(one.as_name.valid() ? one.as_name : one.name);
            auto length = static_cast<uint32_t>(name.size());
            if (one.range.end >= length) {
                Range range{one.range.end - length, one.range.end};
                found_.push_back({name, range, nullptr, nullptr, {}});
            }
        }
    }

    const syntax::Tree& tree_;
    std::string_view text_;
    std::vector<Binding> found_;
};

// Adds a member of a method's first parameter that is assigned to, or those in a tuple.
void add_target(const syntax::Tree& tree, const syntax::FunctionDefStmt& method, const Expr* target,
                const Binding& said, std::vector<Member>& found) {
    if (target->kind == syntax::ExprKind::kTuple || target->kind == syntax::ExprKind::kList) {
        syntax::each_child(target,
                           [&](const Expr* child) { add_target(tree, method, child, {}, found); });
        return;
    }
    const auto* member = syntax::maybe_as<syntax::AttributeExpr>(target);
    const auto* base =
        member == nullptr ? nullptr : syntax::maybe_as<syntax::NameExpr>(member->value);
    if (base != nullptr && base->name == method.parameters->items[0].name && member->name.valid()) {
        Binding binding = said;
        binding.name = tree.names.text(member->name);
        binding.range = member->name_range;
        found.push_back({MemberKind::kValue, binding, &method});
    }
}

// Adds what statements assign to members of a method's first parameter.
void add_assigned(const syntax::Tree& tree, const syntax::FunctionDefStmt& method,
                  syntax::Stmts statements, std::vector<Member>& found) {
    for (const Stmt* one : statements) {
        if (const auto* assign = syntax::maybe_as<syntax::AssignStmt>(one)) {
            for (const Expr* target : assign->targets) {
                add_target(tree, method, target, {{}, {}, nullptr, assign->value, {}}, found);
            }
        } else if (const auto* annotated = syntax::maybe_as<syntax::AnnAssignStmt>(one)) {
            Binding said{{}, {}, annotated->annotation, annotated->value, {}};
            add_target(tree, method, annotated->target, said, found);
        }
        if (!is_definition(definition_of(one))) {
            each_inner(one, [&](const Stmt* child) {
                add_assigned(tree, method, syntax::Stmts(&child, 1), found);
            });
        }
    }
}

}  // namespace

const syntax::OpaqueStmt* as_class(const Stmt* statement) {
    const auto* opaque = syntax::maybe_as<syntax::OpaqueStmt>(statement);
    return opaque != nullptr && opaque->keyword == "class" ? opaque : nullptr;
}

Range name_range(const syntax::OpaqueStmt& type, std::string_view text) {
    size_t begin =
        std::min(text.find_first_not_of(" \t\\\r\n", type.keyword_range.end), text.size());
    size_t end = std::min(text.find_first_of(" \t\\\r\n(:[", begin), text.size());
    return {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
}

std::vector<Definition> around(const syntax::Tree& tree, std::string_view text, uint32_t offset) {
    std::vector<Definition> found;
    syntax::Stmts block = tree.body;
    while (true) {
        const Stmt* last = nullptr;
        auto see = [&](const Stmt* one) { last = one->range.begin <= offset ? one : last; };
        std::for_each(block.begin(), block.end(), see);
        // Down through `if` and the like to the definition in them.
        while (last != nullptr && !is_definition(definition_of(last))) {
            const Stmt* outer = std::exchange(last, nullptr);
            each_inner(outer, see);
        }
        bool is_inside =
            last != nullptr && (offset <= last->range.end ||
                                indentation(text, offset) > indentation(text, last->range.begin));
        if (!is_inside) {
            return found;
        }
        found.push_back(definition_of(last));
        block = found.back().function != nullptr ? found.back().function->body
                                                 : found.back().type->body;
    }
}

std::vector<Binding> bindings(const syntax::Tree& tree, std::string_view text,
                              syntax::Stmts statements) {
    BindingReader reader(tree, text);
    reader.block(statements);
    return reader.take();
}

bool is_of_outer_scope(const syntax::Tree& tree, syntax::Stmts statements, std::string_view name) {
    bool is_outer = false;
    for (const Stmt* one : statements) {
        if (one->kind == syntax::StmtKind::kGlobal || one->kind == syntax::StmtKind::kNonlocal) {
            for (sardonyx::Symbol said : static_cast<const syntax::NamesStmt*>(one)->names) {
                is_outer = is_outer || tree.names.text(said) == name;
            }
        } else if (!is_definition(definition_of(one))) {
            each_inner(one, [&](const Stmt* child) {
                is_outer = is_outer || is_of_outer_scope(tree, syntax::Stmts(&child, 1), name);
            });
        }
    }
    return is_outer;
}

MemberKind kind_of_method(const syntax::Tree& tree, const syntax::FunctionDefStmt& function) {
    for (const Expr* one : function.decorators) {
        const auto* member = syntax::maybe_as<syntax::AttributeExpr>(one);
        const auto* name = syntax::maybe_as<syntax::NameExpr>(one);
        std::string_view word = name != nullptr     ? tree.names.text(name->name)
                                : member != nullptr ? tree.names.text(member->name)
                                                    : std::string_view();
        if (word == "property" || word == "cached_property") {
            return MemberKind::kProperty;
        }
        if (word == "staticmethod") {
            return MemberKind::kStaticMethod;
        }
        if (word == "classmethod") {
            return MemberKind::kClassMethod;
        }
    }
    return MemberKind::kMethod;
}

std::vector<Member> members(const syntax::Tree& tree, std::string_view text,
                            const syntax::OpaqueStmt& type) {
    std::vector<Member> found;
    for (const Binding& one : bindings(tree, text, type.body)) {
        const syntax::FunctionDefStmt* function = one.definition.function;
        found.push_back({function != nullptr ? kind_of_method(tree, *function) : MemberKind::kValue,
                         one, nullptr});
    }
    for (const Stmt* one : type.body) {
        const auto* method = syntax::maybe_as<syntax::FunctionDefStmt>(one);
        if (method != nullptr && !method->parameters->items.empty() &&
            kind_of_method(tree, *method) != MemberKind::kStaticMethod) {
            add_assigned(tree, *method, method->body, found);
        }
    }
    std::vector<Member> once;
    for (const Member& one : found) {
        auto same = [&](const Member& before) { return before.binding.name == one.binding.name; };
        if (std::none_of(once.begin(), once.end(), same)) {
            once.push_back(one);
        }
    }
    return once;
}

}  // namespace sardonyx::ide
