#include "ide/answers.h"
#include "ide/cursor.h"
#include "ide/meaning.h"
#include "ide/names.h"

namespace sardonyx::ide {
namespace {

// What a name leads to: a function or class to where it is defined, also in another file, others to
// where they are bound.
struct Target {
    const syntax::Tree* tree = nullptr;
    Range range;
};

Target target_of(const Analysis& analysis, const Meaning& found) {
    if (found.kind == MeaningKind::kFunction) {
        return {found.tree, found.function->name_range};
    }
    if (found.kind == MeaningKind::kClass) {
        return {found.tree, name_range(*found.type, analysis.sources().text(found.tree->file))};
    }
    return {found.bound_in, found.binding.range};
}

// The parameter of a function, or the field of a class, that a keyword of a call names.
Target parameter_of(const Analysis& analysis, const Meaning& called, std::string_view name) {
    if (std::optional<Meaning> function = called_function(analysis, called)) {
        for (const syntax::Parameter& one : function->function->parameters->items) {
            if (function->tree->names.text(one.name) == name) {
                return {function->tree, one.range};
            }
        }
        return {};
    }
    Meaning instance = called;
    instance.kind = MeaningKind::kInstance;
    std::optional<Meaning> field = member_of(analysis, instance, name);
    return field ? Target{field->bound_in, field->binding.range} : Target();
}

}  // namespace

std::optional<Location> definition(const Analysis& analysis, uint32_t offset) {
    std::optional<NameAt> at = name_at(analysis.text(), offset);
    if (!at || analysis.module() == nullptr || (at->is_member && at->base.empty())) {
        return std::nullopt;
    }
    bool is_name = !at->is_member && !at->is_keyword;
    if (const KnownType* type = is_name ? type_of_name(analysis, *at) : nullptr) {
        return Location{analysis.module()->path(), analysis.text(), type->range};
    }
    std::string names = at->is_keyword ? names_of(*at->call) : names_of(*at);
    std::optional<Meaning> found = meaning(analysis, names, at->range.begin);
    Target target = !found           ? Target()
                    : at->is_keyword ? parameter_of(analysis, *found, at->name)
                                     : target_of(analysis, *found);
    if (target.tree == nullptr) {
        return std::nullopt;
    }
    const diagnostics::Sources& sources = analysis.sources();
    return Location{std::string(sources.path(target.tree->file)), sources.text(target.tree->file),
                    target.range};
}

}  // namespace sardonyx::ide
