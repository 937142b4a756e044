#include "ide/meaning.h"

#include <algorithm>

#include "elaborate/objects/context.h"
#include "elaborate/objects/namespaces.h"

namespace sardonyx::ide {
namespace {

using elaborate::Object;
using elaborate::ObjectKind;
using syntax::Expr;

// Assignments that lead to each other end somewhere, and classes have few bases.
constexpr int kMostSteps = 24;

// A file: where its names stand, and what they mean.
struct Site {
    const syntax::Tree* tree = nullptr;
    elaborate::Environment* environment = nullptr;
};

Meaning of_class(MeaningKind kind, const Site& site, const syntax::OpaqueStmt* type) {
    Meaning made;
    made.kind = kind;
    made.tree = site.tree;
    made.environment = site.environment;
    made.type = type;
    return made;
}

Meaning of_function(const Site& site, const syntax::FunctionDefStmt* function) {
    Meaning made;
    made.kind = MeaningKind::kFunction;
    made.tree = site.tree;
    made.environment = site.environment;
    made.function = function;
    return made;
}

// A class, or an instance of it, where a file of scripts defines it.
Meaning of_type(MeaningKind kind, const elaborate::Namespace* type) {
    bool is_written = type != nullptr && type->statement != nullptr;
    return is_written ? of_class(kind, {type->tree, type->file}, type->statement) : Meaning();
}

Meaning of_namespace(const elaborate::Namespace* found) {
    using Kind = elaborate::Namespace::Kind;
    bool is_instance = found->kind == Kind::kInstance || found->kind == Kind::kMember;
    return is_instance ? of_type(MeaningKind::kInstance, found->of)
                       : of_type(MeaningKind::kClass, found);
}

Meaning of_object(const Object& object) {
    Meaning made;
    if (const elaborate::Namespace* found = elaborate::as_namespace(object)) {
        made = of_namespace(found);
    } else if (const elaborate::Namespace* member = elaborate::as_member(object)) {
        made = of_namespace(member);
    } else if (object.is(ObjectKind::kTuple)) {
        made = of_type(MeaningKind::kInstance, object.tuple_class());
    } else if (object.is(ObjectKind::kScript)) {
        const auto& script = object.get<elaborate::ScriptFunction>();
        made = of_function({script.tree, script.environment}, script.definition);
    } else if (object.is(ObjectKind::kClosure)) {
        const auto& closure = object.get<elaborate::Closure>();
        if (closure.definition != nullptr && closure.scope != nullptr) {
            const elaborate::ScriptFunction& file = *closure.scope->function;
            made = of_function({file.tree, file.environment}, closure.definition);
        }
    } else if (object.is(ObjectKind::kModule)) {
        made.environment = object.get<elaborate::ModuleObject>().environment;
        made.kind = made.environment != nullptr ? MeaningKind::kFile : MeaningKind::kValue;
    }
    made.object = object;
    return made;
}

class Resolver {
  public:
    explicit Resolver(const Analysis& analysis) : analysis_(analysis) {}

    std::optional<Meaning> names(std::string_view names, uint32_t offset) {
        Site site = own_site();
        size_t end = std::min(names.find('.'), names.size());
        std::string_view first = names.substr(0, end);
        std::optional<Meaning> found =
            first == "super()" ? base_at(site, offset) : name(site, first, offset);
        while (found && end < names.size()) {
            names.remove_prefix(end + 1);
            end = std::min(names.find('.'), names.size());
            found = member(*found, names.substr(0, end));
        }
        return found;
    }

    std::optional<Meaning> expression(const Site& site, const Expr* node) {
        if (node == nullptr || ++steps_ > kMostSteps) {
            return std::nullopt;
        }
        if (const auto* one = syntax::maybe_as<syntax::NameExpr>(node)) {
            return name(site, site.tree->names.text(one->name), node->range.begin);
        }
        if (const auto* one = syntax::maybe_as<syntax::AttributeExpr>(node)) {
            std::optional<Meaning> base = expression(site, one->value);
            return base && one->name.valid() ? member(*base, site.tree->names.text(one->name))
                                             : std::nullopt;
        }
        const auto* call = syntax::maybe_as<syntax::CallExpr>(node);
        return call != nullptr ? result(site, call) : std::nullopt;
    }

    // A class and its bases.
    std::vector<Meaning> line(const Meaning& meaning) {
        std::vector<Meaning> found;
        std::optional<Meaning> type = meaning;
        for (int i = 0; i < kMostSteps && type && type->type != nullptr; ++i) {
            found.push_back(*type);
            type = base({type->tree, type->environment}, type->type);
        }
        return found;
    }

    std::vector<KnownMember> members(const Meaning& meaning) {
        std::vector<KnownMember> found;
        for (const Meaning& type : line(meaning)) {
            Site site{type.tree, type.environment};
            for (const Member& one : ide::members(*site.tree, text_of(site), *type.type)) {
                auto same = [&](const KnownMember& before) {
                    return before.member.binding.name == one.binding.name;
                };
                if (std::none_of(found.begin(), found.end(), same)) {
                    found.push_back({one, site.tree, site.environment, type.type});
                }
            }
        }
        return found;
    }

    std::optional<Meaning> member(const Meaning& of, std::string_view name) {
        if (of.kind == MeaningKind::kFile) {
            const syntax::Tree* tree = of.environment->file_tree();
            return tree != nullptr ? name_of_file({tree, of.environment}, name) : std::nullopt;
        }
        for (const KnownMember& one : members(of)) {
            if (one.member.binding.name == name) {
                return of_member(of, one);
            }
        }
        return std::nullopt;
    }

    Site own_site() const { return {&analysis_.module()->tree(), analysis_.module()}; }

  private:
    std::string_view text_of(const Site& site) const {
        return analysis_.sources().text(site.tree->file);
    }

    std::optional<Meaning> name(const Site& site, std::string_view name, uint32_t offset) {
        std::vector<Definition> outer = around(*site.tree, text_of(site), offset);
        for (size_t i = outer.size(); i-- > 0;) {
            const syntax::OpaqueStmt* type = i > 0 ? outer[i - 1].type : nullptr;
            std::optional<Meaning> found;
            if (outer[i].function != nullptr) {
                found = local(site, *outer[i].function, type, name, offset);
            } else if (i + 1 == outer.size()) {
                found = bound(site, outer[i].type->body, name, offset);
            }
            if (found) {
                return found;
            }
        }
        return name_of_file(site, name);
    }

    // Of a parameter or variable of a function, which may be a method of a class.
    std::optional<Meaning> local(const Site& site, const syntax::FunctionDefStmt& function,
                                 const syntax::OpaqueStmt* type, std::string_view name,
                                 uint32_t offset) {
        if (is_of_outer_scope(*site.tree, function.body, name)) {
            return std::nullopt;
        }
        if (std::optional<Meaning> found = bound(site, function.body, name, offset)) {
            return found;
        }
        for (const syntax::Parameter& one : function.parameters->items) {
            if (site.tree->names.text(one.name) != name) {
                continue;
            }
            bool is_first = &one == function.parameters->items.data() && type != nullptr;
            MemberKind kind = kind_of_method(*site.tree, function);
            bool is_self = is_first && kind != MemberKind::kStaticMethod;
            Meaning made = is_self
                               ? of_class(kind == MemberKind::kClassMethod ? MeaningKind::kClass
                                                                           : MeaningKind::kInstance,
                                          site, type)
                               : annotated(site, one.annotation);
            made.bound_in = site.tree;
            made.binding = {name, one.range, one.annotation, nullptr, {}};
            return made;
        }
        return std::nullopt;
    }

    // By the last binding before the place, else the first one.
    std::optional<Meaning> bound(const Site& site, syntax::Stmts statements, std::string_view name,
                                 uint32_t offset) {
        std::optional<Binding> last;
        for (const Binding& one : bindings(*site.tree, text_of(site), statements)) {
            if (one.name == name && (!last || one.range.begin < offset)) {
                last = one;
            }
        }
        return last ? std::optional(of_binding(site, *last)) : std::nullopt;
    }

    std::optional<Meaning> name_of_file(const Site& site, std::string_view name) {
        std::optional<Meaning> found =
            bound(site, site.tree->body, name, static_cast<uint32_t>(text_of(site).size()));
        std::optional<Object> object = site.environment->known(name);
        if (!object || object->is(ObjectKind::kUnbound)) {
            return found;
        }
        Meaning known = of_object(*object);
        if (!found) {
            return known;
        }
        // What the text says holds of values that are not known, too; an import says nothing.
        if (found->kind == MeaningKind::kValue) {
            known.bound_in = found->bound_in;
            known.binding = found->binding;
            return known;
        }
        found->object = std::move(object);
        return found;
    }

    Meaning of_binding(const Site& site, const Binding& binding) {
        Meaning made;
        if (binding.definition.function != nullptr) {
            made = of_function(site, binding.definition.function);
        } else if (binding.definition.type != nullptr) {
            made = of_class(MeaningKind::kClass, site, binding.definition.type);
        } else if (binding.annotation != nullptr) {
            made = annotated(site, binding.annotation);
        }
        if (made.kind == MeaningKind::kValue && binding.value != nullptr) {
            made = expression(site, binding.value).value_or(Meaning());
            made.object.reset();
        }
        made.owner = nullptr;
        made.method = nullptr;
        made.bound_in = site.tree;
        made.binding = binding;
        return made;
    }

    // A value with an annotation.
    Meaning annotated(const Site& site, const Expr* annotation) {
        if (++steps_ > kMostSteps) {
            return {};
        }
        const auto* text = syntax::maybe_as<syntax::StringExpr>(annotation);
        std::optional<Meaning> type =
            text != nullptr ? name_of_file(site, text->value) : expression(site, annotation);
        if (!type || type->kind != MeaningKind::kClass) {
            return {};
        }
        return of_class(MeaningKind::kInstance, {type->tree, type->environment}, type->type);
    }

    std::optional<Meaning> result(const Site& site, const syntax::CallExpr* call) {
        const auto* callee = syntax::maybe_as<syntax::NameExpr>(call->callee);
        if (callee != nullptr && site.tree->names.text(callee->name) == "super") {
            return base_at(site, call->range.begin);
        }
        std::optional<Meaning> called = expression(site, call->callee);
        if (!called) {
            return std::nullopt;
        }
        Site its{called->tree, called->environment};
        if (called->kind == MeaningKind::kClass) {
            return of_class(MeaningKind::kInstance, its, called->type);
        }
        bool is_function = called->kind == MeaningKind::kFunction;
        return is_function ? std::optional(annotated(its, called->function->returns))
                           : std::nullopt;
    }

    // The base of a class; nothing: there is none, or several.
    std::optional<Meaning> base(const Site& site, const syntax::OpaqueStmt* type) {
        std::optional<Meaning> found =
            type->bases.size() == 1 ? expression(site, type->bases[0]) : std::nullopt;
        return found && found->kind == MeaningKind::kClass ? found : std::nullopt;
    }

    // What `super()` is at a place.
    std::optional<Meaning> base_at(const Site& site, uint32_t offset) {
        std::optional<Meaning> found;
        for (const Definition& one : around(*site.tree, text_of(site), offset)) {
            found = one.type != nullptr ? base(site, one.type) : found;
        }
        if (found) {
            found->kind = MeaningKind::kInstance;
            found->object.reset();
        }
        return found;
    }

    Meaning of_member(const Meaning& of, const KnownMember& one) {
        Site site{one.tree, one.environment};
        Meaning made = of_binding(site, one.member.binding);
        made.owner = one.owner;
        made.method = one.member.method;
        bool is_of_instance = of.kind == MeaningKind::kInstance;
        if (one.member.kind == MemberKind::kProperty && is_of_instance) {
            Meaning value = annotated(site, made.function->returns);
            value.function = made.function;
            value.is_property = true;
            value.tree = value.tree == nullptr ? made.tree : value.tree;
            value.environment = value.environment == nullptr ? made.environment : value.environment;
            value.bound_in = made.bound_in;
            value.binding = made.binding;
            value.owner = made.owner;
            made = value;
        }
        made.is_bound = made.kind == MeaningKind::kFunction &&
                        ((one.member.kind == MemberKind::kMethod && is_of_instance) ||
                         one.member.kind == MemberKind::kClassMethod);
        elaborate::Namespace* known = of.object ? elaborate::as_namespace(*of.object) : nullptr;
        if (known != nullptr && made.kind != MeaningKind::kFunction && !made.is_property) {
            std::optional<Object> value = known->lookup(one.member.binding.name);
            bool is_value = value && !value->is(ObjectKind::kUnbound);
            made.object = is_value ? std::move(value) : std::nullopt;
        }
        return made;
    }

    const Analysis& analysis_;
    int steps_ = 0;
};

}  // namespace

std::optional<Meaning> meaning(const Analysis& analysis, std::string_view names, uint32_t offset) {
    return analysis.module() == nullptr ? std::nullopt : Resolver(analysis).names(names, offset);
}

std::optional<Meaning> meaning(const Analysis& analysis, const Expr* expression) {
    Resolver resolver(analysis);
    return resolver.expression(resolver.own_site(), expression);
}

std::vector<KnownMember> members_of(const Analysis& analysis, const Meaning& meaning) {
    return Resolver(analysis).members(meaning);
}

std::vector<ClassPlace> line_of(const Analysis& analysis, const Meaning& meaning) {
    std::vector<ClassPlace> found;
    for (const Meaning& one : Resolver(analysis).line(meaning)) {
        found.push_back({one.tree, one.type});
    }
    return found;
}

std::optional<Meaning> called_function(const Analysis& analysis, const Meaning& called) {
    if (called.kind == MeaningKind::kFunction) {
        return called;
    }
    Meaning instance = called;
    instance.kind = MeaningKind::kInstance;
    bool is_class = called.kind == MeaningKind::kClass;
    std::optional<Meaning> found =
        Resolver(analysis).member(instance, is_class ? "__init__" : "__call__");
    return found && found->kind == MeaningKind::kFunction ? found : std::nullopt;
}

std::optional<Meaning> member_of(const Analysis& analysis, const Meaning& meaning,
                                 std::string_view name) {
    return Resolver(analysis).member(meaning, name);
}

}  // namespace sardonyx::ide
