#include "elaborate/library/classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "elaborate/emit/interpreter.h"
#include "elaborate/library/builtins.h"
#include "elaborate/library/call_caches.h"
#include "elaborate/library/library.h"
#include "elaborate/library/named_tuples.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/exception_objects.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/unknowns.h"
#include "elaborate/scopes/cells.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

constexpr std::string_view kClassMethod = "classmethod", kStaticMethod = "staticmethod",
                           kCachedProperty = "functools.cached_property";

// Runs what a class does with a new instance; the error object after a diagnostic.
Object initialise(Context& c, std::string_view name, Namespace& made, const Arguments& arguments) {
    std::optional<Object> function = made.lookup(name);
    Object instance = made.object();
    if (!function) {
        return instance;
    }
    made.new_in = c.graph;
    size_t errors = c.program.diagnostics.error_count();
    Object result = call_with(c, *function, instance, arguments);
    made.new_in = nullptr;
    if (c.program.diagnostics.error_count() != errors) {
        return Object::error();  // members may be missing
    }
    if (!result.is_error() && !result.is_none()) {
        return refuse(c, arguments.range, fmt::format("`{}` that returns something", name));
    }
    return result.is_error() ? result : instance;
}

// The property that a member of a class is; null: it is none.
const MethodObject* as_property(const Object& member) {
    bool is_property =
        member.is(ObjectKind::kMethod) && member.get<MethodObject>().name == kProperty;
    return is_property ? &member.get<MethodObject>() : nullptr;
}

// What assigns to a property; null: it cannot be assigned to.
const Object* setter_of(const MethodObject& property) {
    return property.self.is(ObjectKind::kTuple) ? &property.self.items()[1] : nullptr;
}

}  // namespace

const Object& getter_of(const MethodObject& property) {
    return property.self.is(ObjectKind::kTuple) ? property.self.items()[0] : property.self;
}

bool is_method_decorator(const Object& object) {
    bool is_setter = object.is(ObjectKind::kPartial) &&
                     is_builtin(object.get<PartialObject>().function, kProperty);
    return is_setter || is_builtin(object, kProperty) || is_builtin(object, kClassMethod) ||
           is_builtin(object, kStaticMethod) || is_builtin(object, kCachedProperty);
}

Object bound_to(Context& c, const Object& self, Namespace& type, const Object& found, Range range) {
    bool is_of_class = self.is_error();
    if (found.is(ObjectKind::kClosure)) {
        return is_of_class ? found : bind_arguments(found, {self}, {});
    }
    if (!found.is(ObjectKind::kMethod)) {
        return found;
    }
    const MethodObject& method = found.get<MethodObject>();
    if (method.name == kStaticMethod) {
        return method.self;
    }
    if (method.name == kFunctionOfClass) {
        return is_of_class ? method.self : bind_arguments(method.self, {self}, {});
    }
    if (is_cached_function(method)) {
        return is_of_class ? found : bind_arguments(found, {self}, {});
    }
    if (method.name == kClassMethod) {
        return bind_arguments(method.self, {type.object()}, {});
    }
    if (method.name == kField) {
        return refuse(c, range, "a field of a class itself");
    }
    if (method.name == kCachedProperty && self.tuple_class() != nullptr) {
        refuse(c, range, "a cached property of a named tuple, which Python refuses",
               "make it a `property`");
        return raises(c, "TypeError");
    }
    if (method.name == kProperty || method.name == kCachedProperty) {
        Arguments nothing;
        nothing.range = nothing.callee_range = range;
        return is_of_class ? refuse(c, range, "a property of a class itself")
                           : call_with(c, getter_of(method), self, nothing);
    }
    return found;
}

namespace {

// What a cached property has given stays when members change. In a branch or loop that an instance
// is not of, the run decides whether there is such a value: its members stay, too.
void keep_cached(Context& c, Namespace& own, std::string_view name, const Object& value) {
    if (is_owned(c, own.object())) {
        change_member(c, own, name, value, false);
    } else {
        own.is_frozen = true;
    }
}

// The instance or member as `self` of its methods: a member may be an int or a string as well.
Object self_of(Namespace& own) {
    const Object* name = own.kind == Namespace::Kind::kMember ? own.find_own("name") : nullptr;
    std::optional<Object> member =
        name != nullptr ? const_cast<Namespace*>(own.of)->lookup(name->text()) : std::nullopt;
    return member && as_member(*member) == &own ? *member : own.object();
}

}  // namespace

Object bound_member(Context& c, Namespace& own, std::string_view name, const Object& found,
                    Range range) {
    bool is_instance =
        own.kind == Namespace::Kind::kInstance || own.kind == Namespace::Kind::kMember;
    bool is_inherited = is_instance && !own.has_own(name);  // what it holds itself is no method
    if (is_instance && !is_inherited) {
        return found;
    }
    if (is_instance && found.is(ObjectKind::kMethod) &&
        found.get<MethodObject>().name == kCachedProperty) {
        if (own.is_shown) {
            return refuse(c, range, "a cached property of an instance whose `__dict__` is taken",
                          "ask for it before");
        }
        const MethodObject& method = found.get<MethodObject>();
        Arguments nothing;
        nothing.range = nothing.callee_range = range;
        Object value = call_with(c, method.self, self_of(own), nothing);
        bool is_open = value.is(ObjectKind::kList) || value.is(ObjectKind::kDict) ||
                       value.is(ObjectKind::kSet) || is_by_value(value);
        if (c.runs_file && !value.is_error()) {
            own.set(name, value);
        } else if (is_open) {
            return refuse(c, range, "a cached property that gives a list, dict, set or instance");
        } else if (own.is_of_script && own.made_by == c.unit && !value.is_error()) {
            keep_cached(c, own, name, value);
        }
        return value;
    }
    return is_instance ? bound_to(c, self_of(own), *const_cast<Namespace*>(own.of), found, range)
                       : bound_to(c, Object::error(), own, found, range);
}

namespace {

bool is_slot(const Namespace& type, std::string_view name) {
    return std::any_of(type.order().begin(), type.order().end(), [name](const Namespace* one) {
        return one->slots &&
               std::find(one->slots->begin(), one->slots->end(), name) != one->slots->end();
    });
}

// Whether instances take a member of this name, which `__slots__` may forbid.
bool has_room(const Namespace& type, std::string_view name) {
    return std::any_of(type.order().begin(), type.order().end(), [name](const Namespace* one) {
        return !one->slots ||
               std::any_of(one->slots->begin(), one->slots->end(), [name](const std::string& slot) {
                   return slot == name || slot == "__dict__";
               });
    });
}

}  // namespace

std::optional<Object> shown_members(Context& c, Namespace& own) {
    bool has_dict = own.kind == Namespace::Kind::kInstance && own.of != nullptr &&
                    own.unknown_all == nullptr && has_room(*own.of, "__dict__");
    if (!has_dict) {
        return std::nullopt;
    }
    own.is_shown = true;
    DictObject members;
    for (const auto& [name, value] : own.own_values()) {
        if (!is_slot(*own.of, name)) {
            members.set(Object::string(name), value);
        }
    }
    Object made = Object::dict(std::move(members));
    note_foreign(c, made);  // another value of an item would be one of the member, too
    return made;
}

bool assign_to_member(Context& c, Namespace& own, std::string_view name, const Object& value,
                      Range range) {
    std::optional<Object> of_class =
        own.of != nullptr ? const_cast<Namespace*>(own.of)->lookup(name) : std::optional<Object>();
    const MethodObject* property =
        of_class && own.kind == Namespace::Kind::kInstance ? as_property(*of_class) : nullptr;
    if (property != nullptr) {
        const Object* setter = setter_of(*property);
        if (setter == nullptr) {
            refuse(c, range, fmt::format("the property `{}` of `{}` has no setter", name, own.name),
                   fmt::format("add one with `@{}.setter`, or assign to what it is computed from",
                               name));
            raises(c, "AttributeError");
            return false;
        }
        Arguments given;
        given.range = given.callee_range = range;
        given.positional = {value};
        given.ranges = {range};
        return !call_with(c, *setter, own.object(), given).is_error();
    }
    bool is_property = of_class && of_class->is(ObjectKind::kMethod) &&
                       of_class->get<MethodObject>().name != kField;
    bool is_new = own.new_in != nullptr && (c.runs_file || own.new_in == c.graph);
    bool is_args = name == kArgs && !exception_of(own.object()).builtin.empty();
    bool is_open = !own.is_frozen && !own.is_shown && own.unknown_all == nullptr && !is_property &&
                   !is_args &&  // Python makes a tuple of it
                   (own.kind == Namespace::Kind::kClass || own.kind == Namespace::Kind::kInstance);
    // A script is compiled more than once: what is older than this run of its function stays.
    bool is_of_instance = own.is_of_script && !c.runs_file && own.made_by == c.unit &&
                          own.kind == Namespace::Kind::kInstance;
    bool is_of_run =
        is_of_instance && (is_owned(c, own.object()) || is_joined(c, owner_of(c, own.object())));
    bool is_in_branch = is_of_instance && !is_owned(c, own.object());
    bool is_own = is_new || is_of_run ||
                  (c.runs_file && (c.unit->function == nullptr ||
                                   (c.graph != c.unit->graph && is_owned(c, own.object()))));
    if (!is_open || !is_own) {
        refuse(c, range, fmt::format("an assignment to `{}` of `{}`", name, own.name),
               "make a new instance");
        return false;
    }
    if (own.kind == Namespace::Kind::kInstance && own.of != nullptr && !has_room(*own.of, name)) {
        refuse(c, range, fmt::format("`{}` is not among the slots of `{}`", name, own.of->name),
               "add it to `__slots__`");
        raises(c, "AttributeError");
        return false;
    }
    if (is_of_instance && may_be_another(c, own.object())) {
        c.report(kAliasedItemAssignment, range,
                 fmt::format("an instance of `{}` is changed that another name may hold too, "
                             "depending on values at run time",
                             own.name))
            .with_help("make a new instance where it is chosen, as by `dataclasses.replace`");
        return false;
    }
    change_member(c, own, name, value, is_in_branch);
    return true;
}

namespace {

// What a parameter is that a call does not give; nothing: it must be given. The error object after
// a diagnostic.
std::optional<Object> default_of(Context& c, Namespace& type, const std::string& name,
                                 Range range) {
    std::optional<Object> value = type.lookup(name);
    if (value && is_field_of(*value, "default_factory")) {
        Arguments nothing;
        nothing.range = nothing.callee_range = range;
        const DictObject& of_field = value->get<MethodObject>().self.get<DictObject>();
        return call(c, *of_field.find(Object::string("default_factory")), nothing);
    }
    bool is_known = value && unknown_cause(c.program, *value) == nullptr;
    return is_known ? value : std::nullopt;
}

// Sets the fields of a new instance of a dataclass; `passed_on` gets what `__post_init__` is given.
// False after a diagnostic.
bool set_fields_of(Context& c, Namespace& made, const Arguments& arguments, Arguments& passed_on) {
    Namespace& type = *const_cast<Namespace*>(made.of);
    size_t next = 0, used = 0;
    for (const Namespace::Parameter& one : parameters_of(type)) {
        const KeywordArgument* keyword = one.is_given ? arguments.find(one.name) : nullptr;
        bool is_positional = one.is_given && !one.is_keyword && next < arguments.positional.size();
        if (is_positional && keyword != nullptr) {
            break;  // it is given twice
        }
        std::optional<Object> value = is_positional ? arguments.positional[next]
                                      : keyword != nullptr
                                          ? keyword->value
                                          : default_of(c, type, one.name, arguments.range);
        next += is_positional ? 1 : 0;
        used += keyword != nullptr ? 1 : 0;
        if (value && value->is_error() && !is_positional && keyword == nullptr) {
            return false;
        }
        if (!value && !one.is_given) {
            continue;  // `__post_init__` sets it
        }
        if (!value) {
            refuse(c, arguments.range, fmt::format("`{}` needs `{}`", type.name, one.name));
            return false;
        }
        if (one.is_field) {
            made.set(one.name, *value);
        } else {
            passed_on.positional.push_back(*value);
            passed_on.ranges.push_back(arguments.range);
        }
    }
    if (used != arguments.keywords.size() || next != arguments.positional.size()) {
        refuse(c, arguments.range, fmt::format("`{}` has no such fields", type.name));
        return false;
    }
    return true;
}

// A number or text that is what it shows.
bool is_plain_value(const Object& object) {
    return (object.is_number() || object.is(ObjectKind::kString) || object.is_none()) &&
           object.shown_as() == ShownAs::kPlain && class_of(object) == nullptr;
}

}  // namespace

Object instantiate(Context& c, Namespace& type, const Arguments& arguments) {
    if (type.unknown_all != nullptr) {
        report_unknown(c, unknown_object(type.unknown_all), type.name, arguments.range);
        return Object::error();
    }
    if (type.kind == Namespace::Kind::kInstance && type.of != nullptr) {
        if (std::optional<Object> function = const_cast<Namespace*>(type.of)->lookup("__call__")) {
            return call_with(c, *function, type.object(), arguments);
        }
    }
    if (!type.exception.empty()) {
        Object made = new_exception(c, type, arguments);
        return made.is_error() || !type.lookup("__init__")
                   ? made
                   : initialise(c, "__init__", *as_namespace(made), arguments);
    }
    if (type.is_protocol || !type.abstract.empty()) {
        refuse(c, arguments.range,
               type.is_protocol ? fmt::format("an instance of `{}`, which is a protocol", type.name)
                                : fmt::format("an instance of `{}`, whose method `{}` is abstract",
                                              type.name, type.abstract[0]),
               "derive a class that has its methods");
        return raises(c, "TypeError");
    }
    if (type.kind == Namespace::Kind::kClass && type.lookup("__init__")) {
        return initialise(c, "__init__",
                          *make_namespace(c, Namespace::Kind::kInstance, type.name, &type).second,
                          arguments);
    }
    if (type.kind == Namespace::Kind::kNamedTuple) {
        return make_named_tuple(c, type, arguments);
    }
    if (arguments.positional.size() == 1 && arguments.keywords.empty()) {
        if (std::optional<Object> member =
                member_of_value(type.object(), arguments.positional[0])) {
            return *member;
        }
    }
    // No value of a member; of flags, and so of members that are ints, it may be several of them.
    std::optional<std::vector<Object>> members = members_of(type.object());
    if (members && arguments.positional.size() == 1 && arguments.keywords.empty() &&
        is_plain_value(arguments.positional[0]) &&
        std::none_of(members->begin(), members->end(),
                     [](const Object& one) { return one.is(ObjectKind::kInt); })) {
        refuse(c, arguments.range,
               fmt::format("{} is no value of `{}`", repr(arguments.positional[0]), type.name));
        return raises(c, "ValueError");
    }
    bool is_plain = type.kind == Namespace::Kind::kClass && !type.is_open &&
                    arguments.positional.empty() && arguments.keywords.empty();
    bool is_data = type.kind == Namespace::Kind::kDataclass;
    if (type.kind == Namespace::Kind::kEnumeration) {
        return refuse(c, arguments.range,
                      fmt::format("`{}` of what is not the value of one member", type.name),
                      fmt::format("write the member, as in `{}.{}`", type.name,
                                  type.fields.empty() ? "NAME" : type.fields[0]));
    }
    if (!is_data && !is_plain) {
        return refuse(c, arguments.range, fmt::format("`{}` is called like this", type.name));
    }
    auto [object, made] = make_namespace(c, Namespace::Kind::kInstance, type.name, &type);
    made->is_frozen = type.is_frozen;
    Arguments passed_on;
    passed_on.range = passed_on.callee_range = arguments.range;
    if (is_data && !set_fields_of(c, *made, arguments, passed_on)) {
        return Object::error();
    }
    Object result = initialise(c, "__post_init__", *made, passed_on);
    for (const std::string& field : type.fields) {
        if (is_data && !result.is_error() && !made->has_own(field)) {
            return refuse(c, arguments.range,
                          fmt::format("`{}` whose field `{}` is not set", type.name, field));
        }
    }
    return result;
}

namespace {

// The instance of a dataclass that the object is; null: it is none.
Namespace* data_instance(const Object& object) {
    Namespace* found = as_namespace(object);
    bool is_data = found != nullptr && found->kind == Namespace::Kind::kInstance &&
                   found->of != nullptr && found->of->kind == Namespace::Kind::kDataclass &&
                   found->unknown_all == nullptr;
    return is_data ? found : nullptr;
}

// What dataclasses.asdict and astuple make of a value: also of those in lists, tuples and dicts.
Object taken_apart(Context& c, const Object& object, bool as_dict, Range range) {
    DepthGuard guard(c, range);
    if (!guard) {
        return Object::error();
    }
    if (Namespace* instance = data_instance(object)) {
        DictObject dict;
        std::vector<Object> items;
        for (const std::string& field : instance->of->fields) {
            Object value =
                taken_apart(c, instance->lookup(field).value_or(Object::error()), as_dict, range);
            dict.set(Object::string(field), value);
            items.push_back(std::move(value));
        }
        Object made = as_dict ? Object::dict(std::move(dict)) : Object::tuple(std::move(items));
        claim(c, made);
        return made;
    }
    if (object.is_sequence()) {
        std::vector<Object> items;
        for (const Object& item : object.items()) {
            items.push_back(taken_apart(c, item, as_dict, range));
        }
        Object made = object.with_items(std::move(items));
        claim(c, made);
        return made;
    }
    if (object.is(ObjectKind::kDict)) {
        DictObject dict = object.get<DictObject>();
        for (auto& [key, value] : dict.items) {
            value = taken_apart(c, Object(value), as_dict, range);
        }
        Object made = Object::dict(std::move(dict));
        claim(c, made);
        return made;
    }
    if (object.is(ObjectKind::kConstant)) {
        return Object::make(ObjectKind::kConstant, Tensor(object.get<Tensor>()))
            .shown(object.shown_as());
    }
    bool is_copied = object.is(ObjectKind::kSet) || is_by_value(object);
    return is_copied ? refuse(c, range, fmt::format("a copy of {}", kind_name(object)),
                              "take the fields one by one")
                     : object;
}

Object take_apart(Context& c, const Arguments& a, bool as_dict) {
    if (data_instance(a.positional[0]) == nullptr) {
        return refuse(
            c, a.range,
            fmt::format("`{}` of {}", as_dict ? "asdict" : "astuple", kind_name(a.positional[0])),
            "give it an instance of a dataclass");
    }
    return taken_apart(c, a.positional[0], as_dict, a.range);
}

}  // namespace

Object abc_abstractmethod(Context& c, const Arguments& a) {
    (void)c;
    return a.positional[0];
}

Object dataclasses_asdict(Context& c, const Arguments& a) {
    return take_apart(c, a, true);
}

Object dataclasses_astuple(Context& c, const Arguments& a) {
    return take_apart(c, a, false);
}

Object dataclasses_replace(Context& c, const Arguments& a) {
    Namespace* instance = data_instance(a.positional[0]);
    if (instance == nullptr) {
        return refuse(c, a.range, fmt::format("`replace` of {}", kind_name(a.positional[0])));
    }
    Arguments fields = a;
    fields.positional.clear();
    fields.ranges.clear();
    const std::vector<Namespace::Parameter> parameters = parameters_of(*instance->of);
    for (const Namespace::Parameter& one : parameters) {  // whose names the call borrows
        std::optional<Object> value = instance->lookup(one.name);
        if (one.is_given && one.is_field && a.find(one.name) == nullptr && value) {
            fields.keywords.push_back({one.name, *value, a.range, a.range});
        }
    }
    return instantiate(c, *const_cast<Namespace*>(instance->of), fields);
}

// dataclasses.fields(class or instance): objects with the name of each field.
Object dataclasses_fields(Context& c, const Arguments& a) {
    Namespace* type = as_namespace(a.positional[0]);
    Namespace* instance = data_instance(a.positional[0]);
    const Namespace* of = instance != nullptr ? instance->of : type;
    if (of == nullptr || of->kind != Namespace::Kind::kDataclass || of->unknown_all != nullptr) {
        return refuse(c, a.range, fmt::format("`fields` of {}", kind_name(a.positional[0])),
                      "give it a dataclass or an instance of one");
    }
    std::vector<Object> all;
    for (const std::string& name : of->fields) {
        auto [object, field] =
            make_namespace(c, Namespace::Kind::kInstance, "dataclasses.Field", nullptr);
        field->set("name", Object::string(name));
        field->is_frozen = true;
        all.push_back(object);
    }
    return Object::tuple(std::move(all));
}

// types.SimpleNamespace(name=value, ...)
Object types_simple_namespace(Context& c, const Arguments& a) {
    constexpr std::string_view kName = "types.SimpleNamespace";
    const auto& known = c.program.unknowns->namespaces;
    auto found = std::find_if(known.begin(), known.end(), [](const auto& one) {
        const auto* own = dynamic_cast<const Namespace*>(one.get());
        return own != nullptr && own->is_open;
    });
    Namespace* type =
        found != known.end()
            ? static_cast<Namespace*>(found->get())
            : make_namespace(c, Namespace::Kind::kClass, std::string(kName), nullptr).second;
    type->is_open = true;
    auto [object, made] = make_namespace(c, Namespace::Kind::kInstance, std::string(kName), type);
    for (const KeywordArgument& keyword : a.keywords) {
        made->set(keyword.name, keyword.value);
    }
    return object;
}

}  // namespace sardonyx::elaborate
