#include "elaborate/classes.h"

#include <fmt/format.h>

#include <algorithm>

#include "elaborate/array_functions.h"
#include "elaborate/arrays.h"
#include "elaborate/branch.h"
#include "elaborate/builtins.h"
#include "elaborate/calls.h"
#include "elaborate/emitter.h"
#include "elaborate/expressions.h"
#include "elaborate/graph_loop.h"
#include "elaborate/library.h"
#include "elaborate/lists.h"
#include "elaborate/lookup.h"
#include "elaborate/members.h"
#include "elaborate/signature.h"
#include "elaborate/statements.h"
#include "elaborate/statics.h"

namespace sardonyx::elaborate {

using syntax::Range;

std::optional<Object> Namespace::lookup(std::string_view wanted) {
    if (unknown_all != nullptr) {
        return unknown_object(unknown_all, false);
    }
    for (const auto& [one, value] : values_) {
        if (one == wanted) {
            return value;
        }
    }
    return of != nullptr ? const_cast<Namespace*>(of)->lookup(wanted) : std::nullopt;
}

bool Namespace::has_own(std::string_view wanted) const {
    return std::any_of(values_.begin(), values_.end(),
                       [wanted](const auto& one) { return one.first == wanted; });
}

Object Namespace::object() {
    std::shared_ptr<void> made = self_.lock();
    Object found = made != nullptr ? Object::from_pointer(ObjectKind::kModule, made)
                                   : Object::make(ObjectKind::kModule, ModuleObject{name, this});
    self_ = found.pointer();
    return found;
}

std::vector<std::string> Namespace::names() {
    std::vector<std::string> all =
        of != nullptr ? const_cast<Namespace*>(of)->names() : std::vector<std::string>();
    for (const auto& [one, value] : values_) {
        all.push_back(one);
    }
    return all;
}

void Namespace::set(std::string_view wanted, Object value) {
    for (auto& [one, old] : values_) {
        if (one == wanted) {
            old = std::move(value);
            return;
        }
    }
    values_.emplace_back(wanted, std::move(value));
}

Namespace* as_namespace(const Object& object) {
    return object.is(ObjectKind::kModule)
               ? dynamic_cast<Namespace*>(object.get<ModuleObject>().environment)
               : nullptr;
}

bool is_by_value(const Object& object) {
    const Namespace* found = as_namespace(object);
    return found != nullptr && found->kind != Namespace::Kind::kMember;
}

Namespace* compared_by_fields(const Object& object) {
    Namespace* found = as_namespace(object);
    return found != nullptr && found->kind == Namespace::Kind::kInstance &&
                   found->of->kind == Namespace::Kind::kDataclass && found->of->has_eq
               ? found
               : nullptr;
}

Object fields_of(Namespace& instance) {
    std::vector<Object> values;
    for (const std::string& field : instance.of->fields) {
        values.push_back(instance.lookup(field).value_or(Object::error()));
    }
    return Object::tuple(std::move(values));
}

namespace {

Object refuse_class(Context& c, Range range, std::string message) {
    c.report(kUnsupportedStatement, range, std::move(message))
        .with_help("give it constants alone, or take its values from Python");
    return Object::error();
}

// The object of a new namespace, which lives as long as the program.
std::pair<Object, Namespace*> make_namespace(Context& c, Namespace::Kind kind, std::string name,
                                             const Namespace* of) {
    auto made = std::make_unique<Namespace>(kind, std::move(name), of);
    Namespace* place = made.get();
    c.program.unknowns->namespaces.push_back(std::move(made));
    Object object = place->object();
    claim(c, object);
    return {object, place};
}

struct ClassKind {
    Namespace::Kind kind = Namespace::Kind::kClass;
    bool has_ints = false;     // an IntEnum
    bool has_strings = false;  // a StrEnum
    bool is_frozen = false;
    bool has_eq = true;
    const Namespace* base = nullptr;
};

// The keywords of `dataclass`; false after a diagnostic.
bool read_keywords(Context& c, const syntax::CallExpr* call, ClassKind& kind) {
    for (const syntax::Keyword& keyword : call->keywords) {
        std::string_view word = c.text(keyword.name);
        std::optional<bool> is_set = truth(eval(c, keyword.value));
        if (!is_set || (word != "frozen" && word != "eq" && word != "slots" && word != "repr")) {
            refuse_class(c, keyword.name_range, "this keyword of a dataclass");
            return false;
        }
        kind.is_frozen = word == "frozen" ? *is_set : kind.is_frozen;
        kind.has_eq = word == "eq" ? *is_set : kind.has_eq;
    }
    return true;
}

// The name of the one base, where it is a class of Python's: `Enum` or `enum.Enum`.
std::string base_name(Context& c, std::span<const Symbol> names) {
    std::optional<Object> base =
        c.function().environment->lookup_symbol(names[0], c.text(names[0]));
    bool is_in_module = names.size() == 2 && base && base->is(ObjectKind::kModule) &&
                        base->get<ModuleObject>().environment == nullptr;
    if (is_in_module) {
        base = library_attribute(base->get<ModuleObject>().name, c.text(names[1]));
    }
    bool is_class =
        base && base->is(ObjectKind::kPythonType) && (is_in_module || names.size() == 1);
    return is_class ? base->get<PythonType>().name : std::string();
}

// The plain class of the file that is the one base; null: it is something else.
const Namespace* base_class(Context& c, const syntax::OpaqueStmt* statement) {
    if (statement->head_names.size() != 2 || !statement->decorators.empty()) {
        return nullptr;
    }
    std::string_view name = c.text(statement->head_names[1]);
    std::string_view text = c.source(
        {statement->keyword_range.begin,
         statement->body.empty() ? statement->range.end : statement->body[0]->range.begin});
    size_t open = text.find('('), close = text.find(')');
    if (open == std::string_view::npos || close == std::string_view::npos ||
        text.substr(open + 1, close - open - 1) != name) {
        return nullptr;
    }
    std::optional<Object> base =
        c.function().environment->lookup_symbol(statement->head_names[1], name);
    Namespace* found = base ? as_namespace(*base) : nullptr;
    return found != nullptr && found->kind == Namespace::Kind::kClass &&
                   found->unknown_all == nullptr
               ? found
               : nullptr;
}

// What decorators and bases say; nothing, and a diagnostic, for others.
std::optional<ClassKind> kind_of(Context& c, const syntax::OpaqueStmt* statement) {
    ClassKind kind;
    if (statement->head_names.size() > 1 && statement->decorators.empty()) {
        std::string name = base_name(c, statement->head_names.subspan(1));
        kind.has_ints = name == "IntEnum";
        kind.has_strings = name == "StrEnum";
        if (kind.has_ints || kind.has_strings || name == "Enum") {
            kind.kind = Namespace::Kind::kEnumeration;
            return kind;
        }
    }
    kind.base = base_class(c, statement);
    if (kind.base != nullptr) {
        return kind;
    }
    if (statement->head_names.size() != 1 || statement->decorators.size() > 1) {
        refuse_class(c, statement->keyword_range,
                     "a class with several decorators, or a base that is no plain class");
        return std::nullopt;
    }
    if (statement->decorators.empty()) {
        return kind;
    }
    const syntax::Expr* decorator = statement->decorators[0];
    if (const auto* call = syntax::maybe_as<syntax::CallExpr>(decorator)) {
        decorator = call->callee;
        if (!read_keywords(c, call, kind)) {
            return std::nullopt;
        }
    }
    Object object = eval(c, decorator);
    if (object.is_error()) {
        return std::nullopt;
    }
    if (!is_builtin(object, "dataclasses.dataclass")) {
        refuse_class(c, decorator->range, "a decorator of a class that is not `dataclass`");
        return std::nullopt;
    }
    kind.kind = Namespace::Kind::kDataclass;
    return kind;
}

// field(...) with this keyword, or any where `keyword` is empty.
bool is_field_of(const Object& value, std::string_view keyword) {
    if (!value.is(ObjectKind::kMethod) || value.get<MethodObject>().name != kField) {
        return false;
    }
    return keyword.empty() || value.get<MethodObject>().self.get<DictObject>().find(
                                  Object::string(std::string(keyword))) != nullptr;
}

// Whether the annotated names are fields; others mean something else to `dataclass`.
bool read_fields(Context& c, const syntax::OpaqueStmt* statement, Namespace& made) {
    for (const syntax::Stmt* one : statement->body) {
        const auto* field = syntax::maybe_as<syntax::AnnAssignStmt>(one);
        const auto* name =
            field != nullptr ? syntax::maybe_as<syntax::NameExpr>(field->target) : nullptr;
        if (name == nullptr) {
            continue;
        }
        std::string_view type = c.source(field->annotation->range);
        if (type.find("ClassVar") != std::string_view::npos ||
            type.find("InitVar") != std::string_view::npos ||
            type.find("KW_ONLY") != std::string_view::npos) {
            refuse_class(c, field->annotation->range, "this annotation of a dataclass");
            return false;
        }
        made.fields.emplace_back(c.text(name->name));
    }
    return true;
}

// What a name of an enumeration's body becomes: a member, or the earlier one of an equal value.
Object make_member(Context& c, Namespace& enumeration, const std::string& name, const Object& value,
                   const ClassKind& kind) {
    if ((kind.has_ints && value.is(ObjectKind::kInt)) ||
        (kind.has_strings && value.is(ObjectKind::kString))) {
        return value;
    }
    for (const std::string& known : enumeration.fields) {
        Object member = *enumeration.lookup(known);
        if (equal(*as_namespace(member)->lookup("value"), value)) {
            return member;
        }
    }
    auto [member, place] = make_namespace(
        c, Namespace::Kind::kMember, fmt::format("{}.{}", enumeration.name, name), &enumeration);
    place->set("name", Object::string(name));
    place->set("value", value);
    enumeration.fields.push_back(name);
    return member;
}

// A method, or a property and the like: no member of an enumeration.
bool is_function(const Object& value) {
    return value.is(ObjectKind::kClosure) || value.is(ObjectKind::kMethod);
}

// Whether a name of the body means here what it means in Python.
bool is_plain_member(const Namespace& made, const std::string& name, const Object& value,
                     const ClassKind& kind) {
    bool is_list =
        value.is(ObjectKind::kList) || value.is(ObjectKind::kDict) || value.is(ObjectKind::kSet);
    if (name == "__len__" || name == "__getitem__") {
        return value.is(ObjectKind::kClosure) && made.kind != Namespace::Kind::kEnumeration;
    }
    if (name == "__init__" || name == "__call__" || name == "__post_init__") {
        return value.is(ObjectKind::kClosure) &&
               made.kind == (name == "__init__"        ? Namespace::Kind::kClass
                             : name == "__post_init__" ? Namespace::Kind::kDataclass
                                                       : made.kind) &&
               made.kind != Namespace::Kind::kEnumeration;
    }
    if (name.rfind("__", 0) == 0 || value.is(ObjectKind::kUnbound)) {
        return false;
    }
    if (made.kind == Namespace::Kind::kEnumeration) {
        bool is_member = !is_function(value);
        return name[0] != '_' && !is_list && (!is_member || value.is_static()) &&
               !(is_member && kind.has_ints && !value.is(ObjectKind::kInt)) &&
               !(is_member && kind.has_strings && !value.is(ObjectKind::kString));
    }
    bool is_field = std::find(made.fields.begin(), made.fields.end(), name) != made.fields.end();
    return !(is_list && is_field);
}

bool is_auto(const Object& value) {
    return value.is(ObjectKind::kPythonType) && value.get<PythonType>().name == kAuto;
}

// What `auto()` becomes; the error object where the values before it do not say. Python takes the
// largest one, or, before 3.11, the last one: they must be the same.
Object next_value(Context& c, const ClassKind& kind, const std::string& name,
                  const std::vector<Object>& before, Range range) {
    if (kind.has_strings) {
        std::string text = name;
        for (char& one : text) {
            if ((static_cast<unsigned char>(one) & 0x80) != 0) {
                return refuse_class(c, range, "`auto()` for a name that is not ASCII");
            }
            one = one >= 'A' && one <= 'Z' ? static_cast<char>(one - 'A' + 'a') : one;
        }
        return Object::string(std::move(text));
    }
    int64_t last = 0;
    for (const Object& value : before) {
        if (!value.is(ObjectKind::kInt) || (&value != before.data() && value.as_int() <= last) ||
            value.as_int() == INT64_MAX) {
            return refuse_class(c, range, "`auto()` after values that do not increase");
        }
        last = value.as_int();
    }
    return Object::integer(last + 1);
}

}  // namespace

Object make_class(Context& c, const syntax::OpaqueStmt* statement, const ScriptFunction& top,
                  const std::shared_ptr<Scope>& root) {
    std::optional<ClassKind> kind = kind_of(c, statement);
    if (!kind) {
        return Object::error();
    }
    std::shared_ptr<Scope> outer = c.at.scope;
    auto own = std::make_shared<Scope>(&top, nullptr);
    own->closed_in_place = root;
    c.at.scope = own;
    size_t mark = own->open();
    exec(c, statement->body);
    c.at.scope = outer;
    std::string name(c.text(statement->head_names[0]));
    auto [object, made] = make_namespace(c, kind->kind, name, kind->base);
    made->is_frozen = kind->is_frozen;
    made->has_eq = kind->has_eq;
    if (kind->kind == Namespace::Kind::kDataclass && !read_fields(c, statement, *made)) {
        return Object::error();
    }
    std::vector<Object> given;  // by the names before
    for (Symbol symbol : own->changed(mark)) {
        const Object* value = own->find(symbol);
        if (value == nullptr || symbol.index >= c.tree().names.size()) {
            continue;  // deleted, or of a loop
        }
        std::string text(c.text(symbol));
        Object automatic;
        if (kind->kind == Namespace::Kind::kEnumeration && is_auto(*value)) {
            automatic = next_value(c, *kind, text, given, statement->keyword_range);
            if (automatic.is_error()) {
                return automatic;
            }
            value = &automatic;
        }
        if (is_field_of(*value, "") && kind->kind != Namespace::Kind::kDataclass) {
            return refuse_class(c, statement->keyword_range, "`field` outside of a dataclass");
        }
        if (is_field_of(*value, "default")) {
            automatic =
                *value->get<MethodObject>().self.get<DictObject>().find(Object::string("default"));
            value = &automatic;
        }
        given.push_back(*value);
        if (!is_plain_member(*made, text, *value, *kind)) {
            return refuse_class(c, statement->keyword_range,
                                fmt::format("a class with `{}`", text));
        }
        bool is_member = kind->kind == Namespace::Kind::kEnumeration && !is_function(*value);
        if (is_field_of(*value, "") && !is_field_of(*value, "default_factory")) {
            continue;  // it has no default
        }
        made->set(text, is_member ? make_member(c, *made, text, *value, *kind) : *value);
    }
    return object;
}

namespace {

constexpr std::string_view kProperty = "property", kClassMethod = "classmethod",
                           kStaticMethod = "staticmethod",
                           kCachedProperty = "functools.cached_property";

Object call_with(Context& c, const Object& function, const Object& self, Arguments arguments) {
    return call(c, bind_arguments(function, {self}, {}), arguments);
}

// Runs what a class does with a new instance; the error object after a diagnostic.
Object initialise(Context& c, std::string_view name, Namespace& made, const Arguments& arguments) {
    std::optional<Object> function = made.lookup(name);
    Object instance = made.object();
    if (!function) {
        return instance;
    }
    made.new_in = c.graph;
    Object result = call_with(c, *function, instance, arguments);
    made.new_in = nullptr;
    if (!result.is_error() && !result.is_none()) {
        return refuse(c, arguments.range, fmt::format("`{}` that returns something", name));
    }
    return result.is_error() ? result : instance;
}

}  // namespace

bool is_method_decorator(const Object& object) {
    return is_builtin(object, kProperty) || is_builtin(object, kClassMethod) ||
           is_builtin(object, kStaticMethod) || is_builtin(object, kCachedProperty);
}

bool is_a(const Namespace& instance, const Namespace* type) {
    const Namespace* own = instance.of;
    while (own != nullptr && own != type) {
        own = own->of;
    }
    return own != nullptr;
}

std::optional<Object> special_method(const Object& instance, std::string_view name) {
    Namespace* own = as_namespace(instance);
    if (own == nullptr || own->kind != Namespace::Kind::kInstance || own->unknown_all != nullptr) {
        return std::nullopt;
    }
    return const_cast<Namespace*>(own->of)->lookup(name);
}

Object call_method_of(Context& c, const Object& method, const Object& instance,
                      std::vector<Object> arguments, Range range) {
    Arguments all;
    all.ranges.assign(arguments.size(), range);
    all.positional = std::move(arguments);
    all.range = all.callee_range = range;
    return call_with(c, method, instance, all);
}

Object bound_member(Context& c, Namespace& own, std::string_view name, const Object& found,
                    Range range) {
    bool is_instance =
        own.kind == Namespace::Kind::kInstance || own.kind == Namespace::Kind::kMember;
    bool is_inherited = is_instance && !own.has_own(name);  // what it holds itself is no method
    if (found.is(ObjectKind::kClosure)) {
        return is_inherited ? bind_arguments(found, {own.object()}, {}) : found;
    }
    if (!found.is(ObjectKind::kMethod) || (is_instance && !is_inherited)) {
        return found;
    }
    const MethodObject& method = found.get<MethodObject>();
    if (method.name == kStaticMethod) {
        return method.self;
    }
    if (method.name == kClassMethod) {
        Namespace* type = is_instance ? const_cast<Namespace*>(own.of) : &own;
        return bind_arguments(method.self, {type->object()}, {});
    }
    if (method.name == kField) {
        return refuse(c, range, "a field of a class itself");
    }
    if (method.name == kCachedProperty && is_instance) {
        Arguments nothing;
        nothing.range = nothing.callee_range = range;
        Object value = call_with(c, method.self, own.object(), nothing);
        bool is_open = value.is(ObjectKind::kList) || value.is(ObjectKind::kDict) ||
                       value.is(ObjectKind::kSet) || is_by_value(value);
        if (c.runs_file && !value.is_error()) {
            own.set(name, value);
        } else if (is_open) {
            return refuse(c, range, "a cached property that gives a list, dict, set or instance");
        }
        return value;
    }
    if (method.name == kProperty || method.name == kCachedProperty) {
        Arguments nothing;
        nothing.range = nothing.callee_range = range;
        return is_instance ? call_with(c, method.self, own.object(), nothing)
                           : refuse(c, range, "a property of a class itself");
    }
    return found;
}

bool assign_to_member(Context& c, Namespace& own, std::string_view name, const Object& value,
                      Range range) {
    std::optional<Object> of_class =
        own.of != nullptr ? const_cast<Namespace*>(own.of)->lookup(name) : std::optional<Object>();
    bool is_property = of_class && of_class->is(ObjectKind::kMethod) &&
                       of_class->get<MethodObject>().name != kField;
    bool is_new = own.new_in != nullptr && (c.runs_file || own.new_in == c.graph);
    bool is_open = !own.is_frozen && own.unknown_all == nullptr && !is_property &&
                   (own.kind == Namespace::Kind::kClass || own.kind == Namespace::Kind::kInstance);
    // A script is compiled more than once: what is older than this run of its function stays.
    bool is_own =
        is_new || (c.runs_file && (c.unit->function == nullptr ||
                                   (c.graph != c.unit->graph && is_owned(c, own.object()))));
    if (!is_open || !is_own) {
        refuse(c, range, fmt::format("an assignment to `{}` of `{}`", name, own.name),
               "make a new instance");
        return false;
    }
    own.set(name, value);
    return true;
}

std::optional<std::vector<Object>> members_of(const Object& enumeration) {
    Namespace* type = as_namespace(enumeration);
    if (type == nullptr || type->kind != Namespace::Kind::kEnumeration || type->fields.empty() ||
        type->unknown_all != nullptr) {
        return std::nullopt;
    }
    std::vector<Object> members;
    for (const std::string& name : type->fields) {
        members.push_back(*type->lookup(name));
    }
    return members;
}

std::optional<Object> member_named(const Object& enumeration, const Object& name) {
    if (!name.is(ObjectKind::kString) || !members_of(enumeration)) {
        return std::nullopt;
    }
    std::optional<Object> found = as_namespace(enumeration)->lookup(name.text());
    Namespace* member = found ? as_namespace(*found) : nullptr;
    return member != nullptr && member->kind == Namespace::Kind::kMember ? found : std::nullopt;
}

std::optional<Object> member_of_value(const Object& enumeration, const Object& value) {
    std::optional<std::vector<Object>> members = members_of(enumeration);
    for (size_t i = 0; members && i < members->size(); ++i) {
        if (equal(*as_namespace((*members)[i])->lookup("value"), value)) {
            return (*members)[i];
        }
    }
    return std::nullopt;
}

Object instantiate(Context& c, Namespace& type, const Arguments& arguments) {
    if (type.kind == Namespace::Kind::kInstance && type.unknown_all == nullptr) {
        if (std::optional<Object> function = const_cast<Namespace*>(type.of)->lookup("__call__")) {
            return call_with(c, *function, type.object(), arguments);
        }
    }
    if (type.kind == Namespace::Kind::kClass && type.unknown_all == nullptr &&
        type.lookup("__init__")) {
        return initialise(c, "__init__",
                          *make_namespace(c, Namespace::Kind::kInstance, type.name, &type).second,
                          arguments);
    }
    if (arguments.positional.size() == 1 && arguments.keywords.empty()) {
        if (std::optional<Object> member =
                member_of_value(type.object(), arguments.positional[0])) {
            return *member;
        }
    }
    bool is_data = type.kind == Namespace::Kind::kDataclass;
    bool is_plain = type.kind == Namespace::Kind::kClass && arguments.positional.empty() &&
                    arguments.keywords.empty();
    if ((!is_data && !is_plain) || type.unknown_all != nullptr ||
        arguments.positional.size() > type.fields.size()) {
        return refuse(c, arguments.range, fmt::format("`{}` is called like this", type.name));
    }
    auto [object, made] = make_namespace(c, Namespace::Kind::kInstance, type.name, &type);
    made->is_frozen = type.is_frozen;
    for (const KeywordArgument& keyword : arguments.keywords) {
        auto place = std::find(type.fields.begin(), type.fields.end(), keyword.name);
        if (place == type.fields.end() ||
            static_cast<size_t>(place - type.fields.begin()) < arguments.positional.size()) {
            return refuse(c, keyword.range, fmt::format("`{}` has no such field", type.name));
        }
        made->set(keyword.name, keyword.value);
    }
    for (size_t i = 0; i < type.fields.size(); ++i) {
        if (i < arguments.positional.size()) {
            made->set(type.fields[i], arguments.positional[i]);
            continue;
        }
        std::optional<Object> value = made->lookup(type.fields[i]);
        if (value && is_field_of(*value, "default_factory")) {
            Arguments nothing;
            nothing.range = nothing.callee_range = arguments.range;
            const DictObject& of_field = value->get<MethodObject>().self.get<DictObject>();
            value = call(c, *of_field.find(Object::string("default_factory")), nothing);
            if (value->is_error()) {
                return *value;
            }
        }
        if (!value || unknown_cause(c.program, *value) != nullptr) {
            return refuse(c, arguments.range,
                          fmt::format("`{}` needs `{}`", type.name, type.fields[i]));
        }
        made->set(type.fields[i], *value);
    }
    Arguments nothing;
    nothing.range = nothing.callee_range = arguments.range;
    return initialise(c, "__post_init__", *made, nothing);
}

}  // namespace sardonyx::elaborate
