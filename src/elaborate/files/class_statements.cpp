// What a `class` statement makes: a plain class, a dataclass with its fields, or an enumeration
// with its members.

#include "elaborate/files/class_statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elaborate/expressions.h"
#include "elaborate/library/library.h"
#include "elaborate/library/named_tuples.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/special_names.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/type_objects.h"
#include "elaborate/statements.h"
#include "syntax/visit.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

Object refuse_class(Context& c, Range range, std::string message) {
    c.report(kUnsupportedStatement, range, std::move(message))
        .with_help("give it only constants, or take its values from Python");
    return Object::error();
}

struct ClassKind {
    Namespace::Kind kind = Namespace::Kind::kClass;
    std::string enumeration;     // which class of `enum` is the base
    std::string of_values;       // "int" or "str": what its members are as well
    std::string_view exception;  // the class of exceptions that it is derived from
    bool is_abc = false;         // ABC or Protocol is the base
    bool is_protocol = false;    // Protocol is
    bool is_unique = false;      // an enumeration of which no two members have one value
    bool is_frozen = false;
    bool has_eq = true;
    bool has_repr = true;
    bool has_order = false;
    bool has_slots = false;
    bool is_by_keyword = false;           // a dataclass with kw_only=True
    std::vector<const Namespace*> bases;  // classes of the file, in order

    const Namespace* base() const { return bases.empty() ? nullptr : bases[0]; }
    bool is_flag() const { return enumeration == "IntFlag"; }
    bool has_ints() const { return of_values == "int"; }
    bool has_strings() const { return of_values == "str"; }
};

// The keywords of `dataclass`; false after a diagnostic.
bool read_keywords(Context& c, const syntax::CallExpr* call, ClassKind& kind) {
    for (const syntax::Keyword& keyword : call->keywords) {
        std::string_view word = c.text(keyword.name);
        std::optional<bool> is_set = truth(eval(c, keyword.value));
        constexpr std::string_view kKnown[] = {"frozen", "eq", "slots", "repr", "order", "kw_only"};
        bool is_known = std::find(std::begin(kKnown), std::end(kKnown), word) != std::end(kKnown);
        if (!is_set || !is_known) {
            refuse_class(c, keyword.name_range, "this keyword of a dataclass");
            return false;
        }
        kind.is_frozen = word == "frozen" ? *is_set : kind.is_frozen;
        kind.has_eq = word == "eq" ? *is_set : kind.has_eq;
        kind.has_repr = word == "repr" ? *is_set : kind.has_repr;
        kind.has_order = word == "order" ? *is_set : kind.has_order;
        kind.has_slots = word == "slots" ? *is_set : kind.has_slots;
        kind.is_by_keyword = word == "kw_only" ? *is_set : kind.is_by_keyword;
    }
    return true;
}

// The class of the file that is the base; null: it is something else.
const Namespace* base_class(const Object& base) {
    const Namespace* found = as_namespace(base);
    bool is_class = found != nullptr && (found->kind == Namespace::Kind::kClass ||
                                         found->kind == Namespace::Kind::kDataclass ||
                                         found->kind == Namespace::Kind::kNamedTuple);
    return is_class && found->unknown_all == nullptr ? found : nullptr;
}

// A base that says nothing of what instances are: ABC, Protocol, Generic[T], object. Empty: another
// one.
std::string bare_base(Context& c, const syntax::Expr* base) {
    const auto* subscript =
        base != nullptr ? syntax::maybe_as<syntax::SubscriptExpr>(base) : nullptr;
    const syntax::Expr* name = subscript != nullptr ? subscript->value : base;
    if (name == nullptr ||
        (name->kind != syntax::ExprKind::kName && name->kind != syntax::ExprKind::kAttribute)) {
        return {};
    }
    Object type = eval(c, name);
    std::string text = type.is(ObjectKind::kPythonType) ? type.get<PythonType>().name : "";
    bool is_bare = text == "ABC" || text == "Generic" || text == "Protocol" || text == "object";
    return is_bare ? text : "";
}

// A class that an enumeration may name before `Enum`: its members are such values as well.
bool is_value_type(const Object& base) {
    return base.is(ObjectKind::kPythonType) && base.get<PythonType>().arguments.empty() &&
           (base.get<PythonType>().name == "int" || base.get<PythonType>().name == "str");
}

// What decorators and bases say; nothing, and a diagnostic, for others.
std::optional<ClassKind> kind_of(Context& c, const syntax::OpaqueStmt* statement) {
    ClassKind kind;
    std::vector<Object> others;  // bases that are no classes of the file
    for (const syntax::Expr* expr : statement->bases) {
        std::string bare = bare_base(c, expr);
        kind.is_protocol = kind.is_protocol || bare == "Protocol";
        kind.is_abc = kind.is_abc || kind.is_protocol || bare == "ABC";
        Object base = bare.empty() ? eval(c, expr) : Object::none();
        if (base.is_error()) {
            return std::nullopt;
        }
        if (const Namespace* found = base_class(base)) {
            kind.bases.push_back(found);
        } else if (bare.empty()) {
            others.push_back(base);
        }
    }
    bool is_of_library = others.size() == statement->bases.size() &&
                         (others.size() == 1 || (others.size() == 2 && is_value_type(others[0])));
    const Object base = is_of_library ? others.back() : Object::none();
    kind.is_unique = base.is(ObjectKind::kPythonType) && statement->decorators.size() == 1 &&
                     is_builtin(eval(c, statement->decorators[0]), "enum.unique");
    if (base.is(ObjectKind::kPythonType) && (statement->decorators.empty() || kind.is_unique)) {
        const std::string& name = base.get<PythonType>().name;
        if (name == kNamedTuple && others.size() == 1) {
            kind.kind = Namespace::Kind::kNamedTuple;
            return kind;
        }
        if (is_enumeration_type(name) && (others.size() == 1 || name == "Enum")) {
            kind.kind = Namespace::Kind::kEnumeration;
            kind.enumeration = name;
            kind.of_values = others.size() == 2        ? others[0].get<PythonType>().name
                             : name == "StrEnum"       ? "str"
                             : name.starts_with("Int") ? "int"
                                                       : "";
            return kind;
        }
    }
    if (kind.bases.size() == 1 && others.empty() && statement->decorators.empty() &&
        kind.base()->kind == Namespace::Kind::kNamedTuple) {
        kind.kind = Namespace::Kind::kNamedTuple;
        return kind;
    }
    std::optional<std::string_view> inherited = inherited_exception(kind.bases);
    if (!inherited) {
        refuse_class(c, statement->keyword_range, "a class of exceptions of two kinds");
        return std::nullopt;
    }
    kind.exception = *inherited;
    ExceptionType raised = exception_type(base);
    if (!raised.builtin.empty() && statement->decorators.empty() && others.size() == 1) {
        kind.exception = raised.builtin;
        return kind;
    }
    bool is_of_dataclass =
        kind.base() != nullptr && kind.base()->kind == Namespace::Kind::kDataclass;
    bool are_plain = std::all_of(kind.bases.begin(), kind.bases.end(), [](const Namespace* one) {
        return one->kind == Namespace::Kind::kClass;
    });
    bool has_other_base = !others.empty() || (kind.bases.size() > 1 && !are_plain) ||
                          (statement->bases.empty() && statement->head_names.size() != 1);
    if (!kind.bases.empty() && !has_other_base && !is_of_dataclass &&
        statement->decorators.empty()) {
        return kind;
    }
    if (has_other_base || statement->decorators.size() > 1 ||
        (is_of_dataclass && statement->decorators.empty())) {
        bool has_builtin = others.size() == 1 && others[0].is(ObjectKind::kPythonType);
        refuse_class(
            c, statement->keyword_range,
            has_builtin
                ? fmt::format("a class that is derived from `{}`", others[0].get<PythonType>().name)
                : "a class with several decorators, or a base that is not a plain class");
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
    if (is_of_dataclass && kind.base()->is_frozen != kind.is_frozen) {
        refuse_class(c, decorator->range,
                     "a frozen dataclass of one that is not, or the other way");
        return std::nullopt;
    }
    kind.kind = Namespace::Kind::kDataclass;
    return kind;
}

// Calls visit(field, name, value) for each annotated name of the body, with its value among the
// names of the body; null: it has none. Ends with false when the visit gives it.
template <typename Visit>
bool each_annotated(const syntax::OpaqueStmt* statement, const Scope& own, const Visit& visit) {
    for (const syntax::Stmt* one : statement->body) {
        const auto* field = syntax::maybe_as<syntax::AnnAssignStmt>(one);
        const auto* name =
            field != nullptr ? syntax::maybe_as<syntax::NameExpr>(field->target) : nullptr;
        if (name != nullptr &&
            !visit(*field, name->name, field->value != nullptr ? own.find(name->name) : nullptr)) {
            return false;
        }
    }
    return true;
}

// Whether an annotation is this name of `dataclasses`, with or without a subscript.
bool is_annotation(std::string_view type, std::string_view name) {
    constexpr std::string_view kModule = "dataclasses.";
    type.remove_prefix(type.starts_with(kModule) ? kModule.size() : 0);
    return type == name || (type.starts_with(name) && type[name.size()] == '[');
}

// The bool that `field(...)` says of a keyword.
bool is_said(const Object* value, std::string_view keyword, bool otherwise) {
    if (value == nullptr || !is_field_of(*value, keyword)) {
        return otherwise;
    }
    const DictObject& how = value->get<MethodObject>().self.get<DictObject>();
    return truth(*how.find(Object::string(std::string(keyword)))).value_or(otherwise);
}

// Adds a parameter, in the place of one of this name of the base.
void add_parameter(Namespace& made, Namespace::Parameter parameter) {
    auto same = [&](const Namespace::Parameter& one) { return one.name == parameter.name; };
    auto place = std::find_if(made.parameters.begin(), made.parameters.end(), same);
    if (parameter.is_field &&
        std::find(made.fields.begin(), made.fields.end(), parameter.name) == made.fields.end()) {
        made.fields.push_back(parameter.name);
    }
    if (place != made.parameters.end()) {
        *place = std::move(parameter);
    } else {
        made.parameters.push_back(std::move(parameter));
    }
}

// Whether the annotated names are fields; others mean something else to `dataclass`.
bool read_fields(Context& c, const syntax::OpaqueStmt* statement, const Scope& own,
                 bool is_by_keyword, Namespace& made) {
    if (made.of != nullptr) {
        made.fields = made.of->fields;
        made.parameters = parameters_of(*made.of);
        made.has_repr = made.has_repr && made.of->has_repr;
    }
    auto read = [&](const syntax::AnnAssignStmt& field, Symbol name, const Object* value) {
        std::string_view type = c.source(field.annotation->range);
        if (type.starts_with("ClassVar") || type.starts_with("typing.ClassVar")) {
            return true;
        }
        if (is_annotation(type, "KW_ONLY")) {
            is_by_keyword = true;
            return true;
        }
        bool is_passed_on = is_annotation(type, "InitVar");
        if (type.find("ClassVar") != std::string_view::npos ||
            (type.find("InitVar") != std::string_view::npos && !is_passed_on) ||
            type.find("KW_ONLY") != std::string_view::npos) {
            refuse_class(c, field.annotation->range, "this annotation of a dataclass");
            return false;
        }
        add_parameter(made, {std::string(c.text(name)), is_said(value, "kw_only", is_by_keyword),
                             !is_passed_on, is_said(value, "init", true)});
        return true;
    };
    return each_annotated(statement, own, read);
}

// The fields of a class of named tuples, and their defaults among the names of its body; those of
// its base, where it has one. False after a diagnostic.
bool read_tuple_fields(Context& c, const syntax::OpaqueStmt* statement, const Scope& own,
                       Namespace& made) {
    if (made.of != nullptr) {
        made.fields = made.of->fields;
        made.defaults = made.of->defaults;
        return true;
    }
    std::vector<std::string> fields;
    std::vector<Object> defaults;
    auto read = [&](const syntax::AnnAssignStmt& field, Symbol name, const Object* value) {
        fields.emplace_back(c.text(name));
        if (value != nullptr) {
            defaults.push_back(*value);
        } else if (!defaults.empty()) {
            refuse_class(c, field.range, "a field without a default after one that has one");
            return false;
        }
        return true;
    };
    if (!each_annotated(statement, own, read)) {
        return false;
    }
    return set_fields(c, made, std::move(fields), std::move(defaults), statement->keyword_range);
}

// What a name of an enumeration's body becomes: a member, or the earlier one of an equal value.
Object make_member(Context& c, Namespace& enumeration, const std::string& name, const Object& value,
                   const ClassKind& kind) {
    // Of flags, only those of one bit are iterated over.
    bool is_listed = !kind.is_flag() || std::popcount(static_cast<uint64_t>(value.as_int())) == 1;
    for (const std::string& known : enumeration.fields) {
        Object member = *enumeration.lookup(known);
        Namespace* place = as_member(member);
        if (equal(place != nullptr ? *place->lookup("value") : member, value)) {
            return member;
        }
    }
    auto [member, place] = make_namespace(
        c, Namespace::Kind::kMember, fmt::format("{}.{}", enumeration.name, name), &enumeration);
    place->set("name", Object::string(name));
    place->set("value", value);
    if (is_listed) {
        enumeration.fields.push_back(name);
    }
    std::shared_ptr<OpaqueObject> held = std::make_shared<ValuedMember>(place);
    return kind.has_ints() && value.is(ObjectKind::kInt)
               ? Object::int_member(value.as_int(), std::move(held)).shown(ShownAs::kMember)
           : kind.has_strings() && value.is(ObjectKind::kString)
               ? Object::text_member(value.text(), std::move(held)).shown(ShownAs::kMember)
               : member;
}

// A method, or a property and the like: no member of an enumeration.
bool is_function(const Object& value) {
    return value.is(ObjectKind::kClosure) || value.is(ObjectKind::kMethod) ||
           value.is(ObjectKind::kPartial);
}

// Whether a name of the body means here what it means in Python.
bool is_plain_member(const Namespace& made, const std::string& name, const Object& value,
                     const ClassKind& kind) {
    bool is_list =
        value.is(ObjectKind::kList) || value.is(ObjectKind::kDict) || value.is(ObjectKind::kSet);
    bool is_named = made.kind == Namespace::Kind::kNamedTuple;
    if (name == "__len__" || name == "__getitem__") {
        return value.is(ObjectKind::kClosure) && made.kind != Namespace::Kind::kEnumeration &&
               !is_named;
    }
    if (name == "__init__" || name == "__call__" || name == "__post_init__") {
        return value.is(ObjectKind::kClosure) &&
               made.kind == (name == "__init__"        ? Namespace::Kind::kClass
                             : name == "__post_init__" ? Namespace::Kind::kDataclass
                                                       : made.kind) &&
               made.kind != Namespace::Kind::kEnumeration && !is_named;
    }
    if (made.kind == Namespace::Kind::kDataclass && (name == "__repr__" || name == "__str__")) {
        return value.is(ObjectKind::kClosure);
    }
    if (is_special_method(name)) {
        return made.kind == Namespace::Kind::kClass &&
               (value.is(ObjectKind::kClosure) || (name == "__hash__" && value.is_none()));
    }
    if (name == "__match_args__") {
        return made.kind == Namespace::Kind::kClass && value.is(ObjectKind::kTuple) &&
               texts_of(value).has_value();
    }
    if (name.rfind("__", 0) == 0 || value.is(ObjectKind::kUnbound)) {
        return false;
    }
    if (made.kind == Namespace::Kind::kEnumeration) {
        bool is_member = !is_function(value);
        return name[0] != '_' && !is_list && (!is_member || value.is_static()) &&
               !(is_member && kind.has_ints() && !value.is(ObjectKind::kInt)) &&
               !(is_member && kind.has_strings() && !value.is(ObjectKind::kString));
    }
    bool is_field = std::find(made.fields.begin(), made.fields.end(), name) != made.fields.end();
    if (is_named) {
        return !is_name_of_named_tuples(name) && !is_field;
    }
    return !(is_list && is_field);
}

bool is_auto(const Object& value) {
    return value.is(ObjectKind::kPythonType) && value.get<PythonType>().name == kAuto;
}

// What `auto()` becomes; the error object where the values before it do not say. Python takes the
// largest one, or, before 3.11, the last one: they must be the same.
Object next_value(Context& c, const ClassKind& kind, const std::string& name,
                  const std::vector<Object>& before, Range range) {
    if (kind.has_strings() && kind.enumeration != "StrEnum") {
        return refuse_class(c, range, "`auto()` of an enumeration of texts");
    }
    if (kind.has_strings()) {
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
    if (kind.is_flag()) {  // the next bit
        return last >= 0 && last < INT64_MAX / 2
                   ? Object::integer(
                         static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(last) + 1)))
                   : refuse_class(c, range, "`auto()` of a flag after 63 bits");
    }
    return Object::integer(last + 1);
}

// The abstract methods of an ABC: those of its base and its own that no method replaces.
std::vector<std::string> abstract_methods(Context& c, const syntax::OpaqueStmt* statement,
                                          const Namespace& made) {
    std::vector<std::string> names;
    for (size_t i = 1; i < made.order().size(); ++i) {
        // Abstract is what the first class in order that has it says of it.
        for (const std::string& name : made.order()[i]->abstract) {
            auto first = std::find_if(made.order().begin(), made.order().end(),
                                      [&name](const Namespace* one) { return one->has_own(name); });
            bool is_new = std::find(names.begin(), names.end(), name) == names.end();
            if (is_new && first - made.order().begin() == static_cast<std::ptrdiff_t>(i)) {
                names.push_back(name);
            }
        }
    }
    for (const syntax::Stmt* one : statement->body) {
        const auto* function = syntax::maybe_as<syntax::FunctionDefStmt>(one);
        bool is_abstract =
            function != nullptr &&
            std::any_of(function->decorators.begin(), function->decorators.end(),
                        [&c](const syntax::Expr* decorator) {
                            return c.source(decorator->range).ends_with("abstractmethod");
                        });
        if (is_abstract) {
            names.emplace_back(c.text(function->name));
        }
    }
    return names;
}

// A name that Python spells in another way inside of a class: `__name`. Nothing: there is none.
std::optional<Range> private_name(Context& c, syntax::Stmts body) {
    std::optional<Range> found;
    auto see = [&](const syntax::Expr* expr) {
        const auto* name = syntax::maybe_as<syntax::NameExpr>(expr);
        const auto* member = syntax::maybe_as<syntax::AttributeExpr>(expr);
        Symbol symbol = name != nullptr ? name->name : member != nullptr ? member->name : Symbol();
        std::string_view text = symbol.valid() ? c.text(symbol) : std::string_view();
        if (text.starts_with("__") && !text.ends_with("__")) {
            found = found.value_or(expr->range);
        }
    };
    syntax::each_expression(body, see);
    return found;
}

}  // namespace

Object make_class(Context& c, const syntax::OpaqueStmt* statement, const ScriptFunction& top,
                  const std::shared_ptr<Scope>& root) {
    std::optional<ClassKind> kind = kind_of(c, statement);
    if (!kind) {
        return Object::error();
    }
    if (std::optional<Range> found = private_name(c, statement->body)) {
        return refuse_class(c, *found, "a private name of a class, which Python spells otherwise");
    }
    std::shared_ptr<Scope> outer = c.at.scope;
    auto own = std::make_shared<Scope>(&top, nullptr);
    auto methods = std::make_shared<Scope>(&top, root);
    own->closed_in_place = methods;
    c.at.scope = own;
    size_t mark = own->open();
    exec(c, statement->body);
    c.at.scope = outer;
    std::string name(c.text(statement->head_names[0]));
    auto [object, made] = make_namespace(c, kind->kind, name, kind->base());
    if (kind->bases.size() > 1 && !made->set_bases(kind->bases)) {
        return refuse_class(c, statement->keyword_range, "bases that Python finds no order of");
    }
    methods->of_class = made;
    made->statement = statement;
    made->tree = top.tree;
    made->file = top.environment;
    made->is_frozen = kind->is_frozen;
    made->has_eq = kind->has_eq;
    made->has_repr = kind->has_repr;
    made->has_order = kind->has_order;
    bool is_named = kind->kind == Namespace::Kind::kNamedTuple;
    if ((kind->kind == Namespace::Kind::kDataclass &&
         !read_fields(c, statement, *own, kind->is_by_keyword, *made)) ||
        (is_named && !read_tuple_fields(c, statement, *own, *made))) {
        return Object::error();
    }
    if (kind->kind == Namespace::Kind::kDataclass && kind->has_slots) {
        made->slots = made->fields;
    }
    std::vector<Object> given;  // by the names before
    for (Symbol symbol : own->changed(mark)) {
        const Object* value = own->find(symbol);
        if (value == nullptr || symbol.index >= c.tree().names.size()) {
            continue;  // deleted, or of a loop
        }
        std::string text(c.text(symbol));
        bool is_field = is_named && std::find(made->fields.begin(), made->fields.end(), text) !=
                                        made->fields.end();
        bool is_slots = text == "__slots__" &&
                        (is_named ? value->is(ObjectKind::kTuple) && value->items().empty()
                                  : texts_of(*value) && !kind->has_slots &&
                                        kind->kind != Namespace::Kind::kEnumeration);
        if (is_slots && !is_named) {
            made->slots = *texts_of(*value);
            for (Symbol other : own->changed(mark)) {
                std::string_view slot = c.text(other);
                if (std::find(made->slots->begin(), made->slots->end(), slot) !=
                    made->slots->end()) {
                    return refuse_class(
                        c, statement->keyword_range,
                        fmt::format("a class with `{}` both as a slot and as a value", slot));
                }
            }
        }
        if (is_slots || (is_field && kind->base() == nullptr)) {
            continue;  // its default is known already
        }
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
        made->has_repr = made->has_repr && !is_field_of(*value, "repr");
        if (is_field_of(*value, "default")) {
            automatic =
                *value->get<MethodObject>().self.get<DictObject>().find(Object::string("default"));
            value = &automatic;
        }
        if (kind->is_unique && !is_function(*value) &&
            std::any_of(given.begin(), given.end(),
                        [value](const Object& one) { return equal(one, *value); })) {
            return refuse_class(c, statement->keyword_range,
                                "a `unique` enumeration with two members of one value");
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
    made->exception = kind->exception;
    made->enumeration = kind->enumeration;
    made->of_values = kind->of_values;
    made->is_protocol = kind->is_protocol;
    made->is_abc = kind->is_abc || std::any_of(kind->bases.begin(), kind->bases.end(),
                                               [](const Namespace* one) { return one->is_abc; });
    if (made->is_abc) {
        made->abstract = abstract_methods(c, statement, *made);
    }
    return object;
}

}  // namespace sardonyx::elaborate
