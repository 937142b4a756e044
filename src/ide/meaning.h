// What names and members of a file stand for, as far as the text and the values of the file's names
// say it: functions, classes, instances of classes and other files. Types that annotations or
// assignments such as `self.cfg = Config()` say are followed; values of the graph are not known
// here (names.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ide/analysis.h"
#include "ide/outline.h"

namespace sardonyx::ide {

enum class MeaningKind : uint8_t { kValue, kFunction, kClass, kInstance, kFile };

struct Meaning {
    MeaningKind kind = MeaningKind::kValue;
    // The file that the function or class is in, and what its names mean.
    const syntax::Tree* tree = nullptr;
    elaborate::Environment* environment = nullptr;
    const syntax::FunctionDefStmt* function = nullptr;
    const syntax::OpaqueStmt* type = nullptr;  // the class, of an instance its class
    // A method of an instance: its first parameter is given.
    bool is_bound = false;
    bool is_property = false;                 // the function computes the value
    std::optional<elaborate::Object> object;  // its value, where it is known
    // Where the name is bound, and what is written there.
    const syntax::Tree* bound_in = nullptr;
    Binding binding;
    const syntax::OpaqueStmt* owner = nullptr;        // of a member: the class that has it
    const syntax::FunctionDefStmt* method = nullptr;  // where `self.name = value` stands
};

// Of names before an offset, such as "self.cfg.width", "layer.act" or "super().act"; nothing: it is
// not known.
std::optional<Meaning> meaning(const Analysis& analysis, std::string_view names, uint32_t offset);
// Of an expression of the file.
std::optional<Meaning> meaning(const Analysis& analysis, const syntax::Expr* expression);

// A member of a class, and the file that the class is in.
struct KnownMember {
    Member member;
    const syntax::Tree* tree = nullptr;
    elaborate::Environment* environment = nullptr;
    const syntax::OpaqueStmt* owner = nullptr;
};
// What a class or an instance has, each name once: its own members before those of its bases.
std::vector<KnownMember> members_of(const Analysis& analysis, const Meaning& meaning);
// A class, or the class of an instance, and the classes that it is derived from, as far as they are
// known.
struct ClassPlace {
    const syntax::Tree* tree = nullptr;
    const syntax::OpaqueStmt* type = nullptr;
};
std::vector<ClassPlace> line_of(const Analysis& analysis, const Meaning& meaning);
// The function that a call runs: of a class `__init__`, of an instance `__call__`; nothing: it is
// not known, or the class makes its own of its fields.
std::optional<Meaning> called_function(const Analysis& analysis, const Meaning& called);
// The member of this name; nothing: it has none.
std::optional<Meaning> member_of(const Analysis& analysis, const Meaning& meaning,
                                 std::string_view name);

}  // namespace sardonyx::ide
