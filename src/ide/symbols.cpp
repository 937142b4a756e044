#include <algorithm>
#include <set>

#include "elaborate/elaborate.h"
#include "elaborate/objects/namespaces.h"
#include "ide/answers.h"
#include "ide/outline.h"

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

namespace {

EntryKind kind_of(const Member& one, bool is_enumeration) {
    switch (one.kind) {
        case MemberKind::kValue:
            return is_enumeration && one.method == nullptr ? EntryKind::kEnumMember
                                                           : EntryKind::kField;
        case MemberKind::kProperty:
            return EntryKind::kProperty;
        default:
            return EntryKind::kMethod;
    }
}

OutlineEntry entry_of(const Analysis& analysis, const syntax::OpaqueStmt& type) {
    const syntax::Tree& tree = analysis.module()->tree();
    Range name = name_range(type, analysis.text());
    std::string text(analysis.text().substr(name.begin, name.end - name.begin));
    OutlineEntry entry{EntryKind::kClass, {text, false, type.range, name}, {}};
    std::optional<elaborate::Object> object = analysis.module()->known(text);
    const elaborate::Namespace* known = object ? elaborate::as_namespace(*object) : nullptr;
    bool is_enumeration =
        known != nullptr && known->kind == elaborate::Namespace::Kind::kEnumeration;
    for (const Member& one : members(tree, analysis.text(), type)) {
        const syntax::FunctionDefStmt* function = one.binding.definition.function;
        Range range = function != nullptr ? function->range : one.binding.range;
        entry.members.push_back({kind_of(one, is_enumeration),
                                 {std::string(one.binding.name), false, range, one.binding.range},
                                 {}});
    }
    return entry;
}

}  // namespace

std::vector<OutlineEntry> outline(const Analysis& analysis) {
    std::vector<OutlineEntry> entries;
    for (Symbol& one : symbols(analysis)) {
        entries.push_back({EntryKind::kFunction, std::move(one), {}});
    }
    if (analysis.module() == nullptr) {
        return entries;
    }
    for (const syntax::Stmt* statement : analysis.module()->tree().body) {
        if (const syntax::OpaqueStmt* type = as_class(statement)) {
            entries.push_back(entry_of(analysis, *type));
        }
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const OutlineEntry& a, const OutlineEntry& b) {
                         return a.symbol.range.begin < b.symbol.range.begin;
                     });
    return entries;
}

}  // namespace sardonyx::ide
