#include "elaborate/classes.h"

#include <fmt/format.h>

#include <algorithm>

#include "elaborate/exec.h"
#include "elaborate/library.h"
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
    std::optional<Object> inherited =
        of != nullptr ? const_cast<Namespace*>(of)->lookup(wanted) : std::nullopt;
    // A method would be bound to the instance.
    return inherited && inherited->is(ObjectKind::kClosure) ? std::nullopt : inherited;
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
    auto made = std::make_unique<Namespace>(kind, name, of);
    Namespace* place = made.get();
    c.program.unknowns->namespaces.push_back(std::move(made));
    return {Object::make(ObjectKind::kModule, ModuleObject{std::move(name), place}), place};
}

struct ClassKind {
    Namespace::Kind kind = Namespace::Kind::kClass;
    bool has_ints = false;  // an IntEnum
    bool is_frozen = false;
    bool has_eq = true;
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

// What decorators and bases say; nothing, and a diagnostic, for others.
std::optional<ClassKind> kind_of(Context& c, const syntax::OpaqueStmt* statement) {
    ClassKind kind;
    if (statement->head_names.size() == 2 && statement->decorators.empty()) {
        std::optional<Object> base = c.function().environment->lookup_symbol(
            statement->head_names[1], c.text(statement->head_names[1]));
        bool is_enum = base && base->is(ObjectKind::kPythonType);
        std::string name = is_enum ? base->get<PythonType>().name : std::string();
        kind.has_ints = name == "IntEnum";
        if (kind.has_ints || name == "Enum") {
            kind.kind = Namespace::Kind::kEnumeration;
            return kind;
        }
    }
    if (statement->head_names.size() != 1 || statement->decorators.size() > 1) {
        refuse_class(c, statement->keyword_range, "a class with bases or several decorators");
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
                   bool has_ints) {
    if (has_ints && value.is(ObjectKind::kInt)) {
        return value;
    }
    for (const std::string& known : enumeration.fields) {
        Object member = *enumeration.lookup(known);
        if (equal(*as_namespace(member)->lookup("value"), value)) {
            return member;
        }
    }
    auto [member, place] = make_namespace(c, Namespace::Kind::kMember,
                                          fmt::format("{}.{}", enumeration.name, name), nullptr);
    place->set("name", Object::string(name));
    place->set("value", value);
    enumeration.fields.push_back(name);
    return member;
}

// Whether a name of the body means here what it means in Python.
bool is_plain_member(const Namespace& made, const std::string& name, const Object& value,
                     bool has_ints) {
    bool is_list =
        value.is(ObjectKind::kList) || value.is(ObjectKind::kDict) || value.is(ObjectKind::kSet);
    if (name.rfind("__", 0) == 0 || value.is(ObjectKind::kUnbound)) {
        return false;
    }
    if (made.kind == Namespace::Kind::kEnumeration) {
        bool is_member = !value.is(ObjectKind::kClosure);
        return name[0] != '_' && !is_list && value.is_static() &&
               !(is_member && has_ints && !value.is(ObjectKind::kInt));
    }
    bool is_field = std::find(made.fields.begin(), made.fields.end(), name) != made.fields.end();
    return !(is_list && is_field);
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
    auto [object, made] = make_namespace(c, kind->kind, name, nullptr);
    made->is_frozen = kind->is_frozen;
    made->has_eq = kind->has_eq;
    if (kind->kind == Namespace::Kind::kDataclass && !read_fields(c, statement, *made)) {
        return Object::error();
    }
    for (Symbol symbol : own->changed(mark)) {
        const Object* value = own->find(symbol);
        if (value == nullptr || symbol.index >= c.tree().names.size()) {
            continue;  // deleted, or of a loop
        }
        std::string text(c.text(symbol));
        if (!is_plain_member(*made, text, *value, kind->has_ints)) {
            return refuse_class(c, statement->keyword_range,
                                fmt::format("a class with `{}`", text));
        }
        bool is_member =
            kind->kind == Namespace::Kind::kEnumeration && !value->is(ObjectKind::kClosure);
        made->set(text, is_member ? make_member(c, *made, text, *value, kind->has_ints) : *value);
    }
    return object;
}

Object instantiate(Context& c, Namespace& type, const Arguments& arguments) {
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
        if (!value || unknown_cause(c.program, *value) != nullptr) {
            return refuse(c, arguments.range,
                          fmt::format("`{}` needs `{}`", type.name, type.fields[i]));
        }
        made->set(type.fields[i], *value);
    }
    return object;
}

}  // namespace sardonyx::elaborate
