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

// The kind that decorators and bases say; nothing, and a diagnostic, for others.
std::optional<Namespace::Kind> kind_of(Context& c, const syntax::OpaqueStmt* statement,
                                       bool& is_frozen, bool& has_ints) {
    if (statement->head_names.size() == 2 && statement->decorators.empty()) {
        std::optional<Object> base = c.function().environment->lookup_symbol(
            statement->head_names[1], c.text(statement->head_names[1]));
        bool is_enum = base && base->is(ObjectKind::kPythonType);
        std::string name = is_enum ? base->get<PythonType>().name : std::string();
        has_ints = name == "IntEnum";
        if (has_ints || name == "Enum") {
            return Namespace::Kind::kEnumeration;
        }
    }
    if (statement->head_names.size() != 1 || statement->decorators.size() > 1) {
        refuse_class(c, statement->keyword_range, "a class with bases or several decorators");
        return std::nullopt;
    }
    if (statement->decorators.empty()) {
        return Namespace::Kind::kClass;
    }
    const syntax::Expr* decorator = statement->decorators[0];
    if (const auto* call = syntax::maybe_as<syntax::CallExpr>(decorator)) {
        decorator = call->callee;
        for (const syntax::Keyword& keyword : call->keywords) {
            std::string_view word = c.text(keyword.name);
            is_frozen = is_frozen || word == "frozen";
            if (word != "frozen" && word != "eq" && word != "slots" && word != "repr") {
                refuse_class(c, keyword.name_range, "this keyword of a dataclass");
                return std::nullopt;
            }
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
    return Namespace::Kind::kDataclass;
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

}  // namespace

Object make_class(Context& c, const syntax::OpaqueStmt* statement, const ScriptFunction& top,
                  const std::shared_ptr<Scope>& root) {
    bool is_frozen = false, has_ints = false;
    std::optional<Namespace::Kind> kind = kind_of(c, statement, is_frozen, has_ints);
    if (!kind) {
        return Object::error();
    }
    std::shared_ptr<Scope> outer = c.at.scope;
    auto own = std::make_shared<Scope>(&top, nullptr);
    own->closed_in_place = root;
    c.at.scope = own;
    exec(c, statement->body);
    c.at.scope = outer;
    std::string name(c.text(statement->head_names[0]));
    auto [object, made] = make_namespace(c, *kind, name, nullptr);
    made->is_frozen = is_frozen;
    if (*kind == Namespace::Kind::kDataclass && !read_fields(c, statement, *made)) {
        return Object::error();
    }
    for (const auto& [symbol, value] : own->values()) {
        if (symbol.index >= c.tree().names.size()) {
            continue;  // of a loop
        }
        std::string text(c.text(symbol));
        bool is_special = text.rfind("__", 0) == 0;
        bool is_list = value.is(ObjectKind::kList) || value.is(ObjectKind::kDict) ||
                       value.is(ObjectKind::kSet);
        bool is_field =
            std::find(made->fields.begin(), made->fields.end(), text) != made->fields.end();
        if (is_special || value.is(ObjectKind::kUnbound) || (is_list && is_field) ||
            (*kind == Namespace::Kind::kEnumeration && (text[0] == '_' || is_list))) {
            return refuse_class(c, statement->keyword_range,
                                fmt::format("a class with `{}`", text));
        }
        Object held = value;
        if (*kind == Namespace::Kind::kEnumeration && !value.is(ObjectKind::kClosure) &&
            !(has_ints && value.is(ObjectKind::kInt))) {
            if (has_ints) {
                return refuse_class(c, statement->keyword_range, "an IntEnum of other values");
            }
            auto [member, place] = make_namespace(c, Namespace::Kind::kMember,
                                                  fmt::format("{}.{}", name, text), nullptr);
            place->set("name", Object::string(text));
            place->set("value", value);
            held = member;
        }
        made->set(text, std::move(held));
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
