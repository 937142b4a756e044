// `super()` in methods: what is behind the class in the order of the classes of the object.
#include "elaborate/library/super_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "elaborate/library/builtins.h"
#include "elaborate/library/classes.h"
#include "elaborate/library/library.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/unknowns.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

constexpr std::string_view kSuper = "super", kObjectInit = "object.__init__",
                           kExceptionInit = "BaseException.__init__";

// The class of the program that an object is; null: it is none.
Namespace* as_class(Context& c, const Object& object) {
    std::optional<Object> own =
        object.is(ObjectKind::kOpaque) && c.function().environment != nullptr
            ? c.function().environment->own_class(object)
            : std::nullopt;
    Namespace* found = as_namespace(own ? *own : object);
    bool is_class = found != nullptr && found->kind != Namespace::Kind::kInstance &&
                    found->kind != Namespace::Kind::kMember;
    return is_class ? found : nullptr;
}

// The class in which the function that runs is written; null: in none.
Namespace* class_around(Context& c) {
    for (const Scope* scope = c.at.scope.get(); scope != nullptr; scope = scope->enclosing.get()) {
        if (scope->of_class != nullptr) {
            return const_cast<Namespace*>(scope->of_class);
        }
    }
    Environment* environment = c.function().environment;
    std::optional<Object> cell =
        environment != nullptr ? environment->lookup("__class__") : std::nullopt;
    return cell ? as_class(c, *cell) : nullptr;
}

// What the first parameter of the function that runs holds; the error object: it has none.
Object first_argument(const Context& c) {
    const Scope& scope = *c.at.scope;
    const syntax::FunctionDefStmt* definition = c.function().definition;
    const syntax::Parameters* parameters = scope.parameters != nullptr ? scope.parameters
                                           : definition != nullptr     ? definition->parameters
                                                                       : nullptr;
    bool has_first = parameters != nullptr && !parameters->items.empty() &&
                     (parameters->items[0].kind == syntax::ParameterKind::kPositionalOnly ||
                      parameters->items[0].kind == syntax::ParameterKind::kNormal);
    const Object* found = has_first ? scope.find(parameters->items[0].name) : nullptr;
    return found != nullptr && !found->is(ObjectKind::kUnbound) ? *found : Object::error();
}

// Whether the object is an instance of the class, or a class that is derived from it.
bool goes_with(Context& c, const Object& object, const Namespace* type) {
    const Namespace* own = as_class(c, object);
    return (own != nullptr && is_derived(own, type)) || is_a(object, type);
}

// The classes behind `type` for an instance or class, up to one that is not the compiler's, for
// which null stands. Empty: there are none.
std::vector<Namespace*> classes_behind(Context& c, const Object& self, const Namespace* type) {
    const Namespace* own = as_class(c, self);
    own = own != nullptr ? own : class_of(self);
    std::optional<Object> kind = own == nullptr && self.is(ObjectKind::kOpaque)
                                     ? c.function().environment->attribute(self, "__class__").value
                                     : std::nullopt;
    own = kind ? as_class(c, *kind) : own;
    std::vector<Namespace*> order;
    if (own != nullptr) {
        for (const Namespace* one : own->order()) {
            order.push_back(const_cast<Namespace*>(one));
        }
    } else {
        // One of Python's, whose class may have others among its bases that are not the compiler's.
        Environment& environment = *c.function().environment;
        std::optional<Object> all = kind && kind->is(ObjectKind::kOpaque)
                                        ? environment.attribute(*kind, "__mro__").value
                                        : std::nullopt;
        if (!all || !all->is(ObjectKind::kTuple)) {
            return {nullptr};
        }
        for (size_t i = 0; i + 1 < all->items().size(); ++i) {  // without `object`
            order.push_back(as_class(c, all->items()[i]));
        }
    }
    auto place = std::find(order.begin(), order.end(), type);
    return place == order.end() ? std::vector<Namespace*>{nullptr}
                                : std::vector<Namespace*>(place + 1, order.end());
}

}  // namespace

Object py_super(Context& c, const Arguments& a) {
    if (c.at.scope->comprehension != nullptr) {
        return refuse(c, a.range, "`super()` in a comprehension", "call it in front of it");
    }
    bool is_given = a.positional.size() == 2;
    Namespace* type = is_given               ? as_class(c, a.positional[0])
                      : a.positional.empty() ? class_around(c)
                                             : nullptr;
    Object self = is_given ? a.positional[1] : first_argument(c);
    if (type == nullptr || self.is_error()) {
        return refuse(c, a.range, "`super` outside of a method of a class of the program",
                      "write `super()` in a method, or call the base by its name");
    }
    bool is_pythons = !is_given && self.is(ObjectKind::kOpaque);  // Python has looked at it
    if (!is_pythons && !goes_with(c, self, type)) {
        refuse(c, a.range,
               fmt::format("`super` of `{}` and {}, which is no instance of it", type->name,
                           kind_name(self)),
               "give it the instance");
        return raises(c, "TypeError");
    }
    Object parts = Object::tuple({self, type->object()});
    return Object::make(ObjectKind::kMethod, MethodObject{parts, std::string(kSuper)});
}

Object object_init(Context& c, const Arguments& a) {
    (void)c, (void)a;
    return Object::none();
}

std::optional<Object> super_member(Context& c, const MethodObject& method, std::string_view name,
                                   Range range) {
    if (method.name != kSuper) {
        return std::nullopt;
    }
    const Object &self = method.self.items()[0], &type = method.self.items()[1];
    Namespace* base = nullptr;
    std::optional<Object> found;
    bool is_known = true;
    for (Namespace* one : classes_behind(c, self, as_namespace(type))) {
        is_known = is_known && one != nullptr;
        if (is_known && !found) {
            base = one;
            found = one->lookup_own(name);
        }
    }
    bool is_made = base != nullptr && base->kind != Namespace::Kind::kClass;
    if (!found && !is_known) {
        return refuse(c, range, fmt::format("`{}` of `super()`", name),
                      "a class behind this one is not one that the compiler knows: call the base "
                      "by its name");
    }
    if (!found && name == "__init__" && !is_made) {
        bool is_exception = !exception_of(self).builtin.empty();
        Object init = Object::make(ObjectKind::kBuiltin,
                                   library_builtin(is_exception ? kExceptionInit : kObjectInit));
        return is_exception ? bind_arguments(init, {self}, {}) : init;
    }
    bool is_cached = found && found->is(ObjectKind::kMethod) &&
                     found->get<MethodObject>().name == "functools.cached_property";
    if (!found || is_cached) {
        refuse(c, range, fmt::format("`{}` of `super()`", name),
               is_cached
                   ? "make it a `property`"
                   : fmt::format("the base of `{}` has no such member that the compiler knows",
                                 as_namespace(type)->name));
        return found || name.starts_with("__") ? Object::error() : raises(c, "AttributeError");
    }
    if (unknown_cause(c.program, *found) != nullptr) {
        report_unknown(c, *found, fmt::format("{}.{}", base->name, name), range);
        return Object::error();
    }
    if (!c.runs_file) {
        note_foreign(c, *found);
    }
    if (Namespace* derived = as_class(c, self)) {
        return bound_to(c, Object::error(), *derived, *found, range);
    }
    if (name.starts_with("__") && !found->is(ObjectKind::kMethod)) {
        return bind_arguments(*found, {self}, {});  // kept as it is, for the compiler's calls
    }
    const Namespace* own = class_of(self);
    return bound_to(c, self, own != nullptr ? *const_cast<Namespace*>(own) : *base, *found, range);
}

}  // namespace sardonyx::elaborate
