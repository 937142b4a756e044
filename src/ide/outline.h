// The functions and classes of a file as they are written: which of them stand around a place, what
// they bind, and what a class gives its instances.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "syntax/tree.h"

namespace sardonyx::ide {

using Range = syntax::Range;  // of bytes

// Null: the statement is no class.
const syntax::OpaqueStmt* as_class(const syntax::Stmt* statement);
// Of the name behind `class`.
Range name_range(const syntax::OpaqueStmt& type, std::string_view text);

// A function or a class; the other one is null.
struct Definition {
    const syntax::FunctionDefStmt* function = nullptr;
    const syntax::OpaqueStmt* type = nullptr;
};

// Those around an offset, the outermost first. A line that is unfinished belongs to the block that
// it is indented in.
std::vector<Definition> around(const syntax::Tree& tree, std::string_view text, uint32_t offset);

// What a statement gives a name.
struct Binding {
    std::string_view name;
    Range range;  // of the name
    const syntax::Expr* annotation = nullptr;
    const syntax::Expr* value = nullptr;  // null: not a value of its own, as in `for a in b`
    Definition definition;                // `def` and `class`
};
// Those of the statements of one scope, those of `if`, `for` and the like included, in order.
std::vector<Binding> bindings(const syntax::Tree& tree, std::string_view text,
                              syntax::Stmts statements);
// Whether `global` or `nonlocal` says that the name is another scope's.
bool is_of_outer_scope(const syntax::Tree& tree, syntax::Stmts statements, std::string_view name);

enum class MemberKind : uint8_t { kMethod, kStaticMethod, kClassMethod, kProperty, kValue };

struct Member {
    MemberKind kind = MemberKind::kValue;
    Binding binding;
    // Where `self.name = value` stands; null: in the body of the class.
    const syntax::FunctionDefStmt* method = nullptr;
};
// Those of the class itself, not of its base, each name once, in order.
std::vector<Member> members(const syntax::Tree& tree, std::string_view text,
                            const syntax::OpaqueStmt& type);

// What a method is, by its decorators.
MemberKind kind_of_method(const syntax::Tree& tree, const syntax::FunctionDefStmt& function);

}  // namespace sardonyx::ide
