// Builtins that need no file of their own: print, callable, slice, partial, the decorators of
// sardonyx and of dataclasses, and what only has to be there.
#include "elaborate/library/builtins.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "elaborate/emit/interpreter.h"
#include "elaborate/library/classes.h"
#include "elaborate/library/library.h"
#include "elaborate/library/members.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/formatting.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/script_keywords.h"
#include "elaborate/objects/shown.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/type_text.h"
#include "ops/ops.h"
#include "torch/library.h"
#include "types/domain.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

bool any_tensor(const Arguments& a) {
    return std::any_of(a.positional.begin(), a.positional.end(),
                       [](const Object& object) { return object.is_graph_value(); });
}

}  // namespace

Object py_print(Context& c, const Arguments& a) {
    if (any_tensor(a)) {
        c.report(kPrintIgnored, a.range, "`print` of a tensor does nothing in a graph")
            .with_help("call the script eagerly to see the values");
    }
    return Object::none();
}

Object py_callable(Context& c, const Arguments& a) {
    const Object& object = a.positional[0];
    if (object.is(ObjectKind::kOpaque)) {
        Environment::Answer answer = c.function().environment->attribute(object, "__call__");
        if (answer.value || answer.error.rfind("AttributeError", 0) == 0) {
            return Object::boolean(answer.value.has_value());
        }
    }
    Namespace* own = as_namespace(object);
    if (own != nullptr && own->unknown_all == nullptr) {
        return Object::boolean(is_class(object) || special_method(object, "__call__").has_value());
    }
    switch (object.kind()) {
        case ObjectKind::kClosure:
        case ObjectKind::kScript:
        case ObjectKind::kBuiltin:
        case ObjectKind::kPartial:
        case ObjectKind::kPythonType:
        case ObjectKind::kOperator:
            return Object::boolean(true);
        case ObjectKind::kNone:
        case ObjectKind::kBool:
        case ObjectKind::kInt:
        case ObjectKind::kFloat:
        case ObjectKind::kString:
        case ObjectKind::kList:
        case ObjectKind::kTuple:
        case ObjectKind::kDict:
        case ObjectKind::kSet:
        case ObjectKind::kConstant:
        case ObjectKind::kTensor:
            return Object::boolean(false);
        default:
            return refuse(c, a.range, fmt::format("`callable` of {}", kind_name(object)),
                          "check it outside the script");
    }
}

Object py_slice(Context& c, const Arguments& a) {
    (void)c;
    SliceObject slice{Object::none(), Object::none(), Object::none()};
    if (a.positional.size() == 1) {
        slice.upper = a.positional[0];
    } else {
        slice.lower = a.positional[0];
        slice.upper = a.positional[1];
        slice.step = a.positional.size() > 2 ? a.positional[2] : Object::none();
    }
    return Object::make(ObjectKind::kSlice, std::move(slice));
}

Object py_reveal_type(Context& c, const Arguments& a) {
    c.report(kRevealedType, a.ranges[0], type_text(a.positional[0]))
        .with_help("remove `reveal_type` when you know");
    return a.positional[0];
}

Object sdx_script(Context& c, const Arguments& a) {
    DecoratorObject decorator;
    ScriptFunction tried;
    auto take = [&](std::string_view name, const Object& value, syntax::Range range) {
        std::optional<KeywordMistake> mistake = set_script_keyword(tried, name, value);
        if (mistake && !value.is_error()) {
            c.report(kArgumentMismatch, range, std::move(mistake->message))
                .with_help(std::move(mistake->help));
        }
        decorator.keywords.emplace_back(std::string(name), value);
    };
    for (size_t i = 0; i < a.positional.size(); ++i) {
        if (i >= kScriptPositions) {
            c.report(kArgumentMismatch, a.ranges[i],
                     fmt::format("`script` takes {} arguments by position, not {}",
                                 kScriptPositions, a.positional.size()))
                .with_help("give the rest by keyword");
            break;
        }
        take(script_keywords()[i], a.positional[i], a.ranges[i]);
    }
    for (const KeywordArgument& keyword : a.keywords) {
        take(keyword.name, keyword.value, keyword.range);
    }
    return Object::make(ObjectKind::kDecorator, std::move(decorator));
}

Object inline_decorator() {
    DecoratorObject decorator;
    decorator.keywords = {
        {"inline", Object::boolean(true)},
        {"default_opset", Object::make(ObjectKind::kOpset, OpsetObject{"", kLibraryOpset})},
        {"caller_opset", Object::boolean(true)}};
    return Object::make(ObjectKind::kDecorator, std::move(decorator));
}

Object declared_inline(Context& c, const Arguments& a) {
    (void)c, (void)a;
    return inline_decorator();
}

Object declared_alias(Context& c, const Arguments& a) {
    (void)c, (void)a;
    return Object::none();
}

Object declared_operator(Context& c, const Arguments& a) {
    const Object& name = a.positional[0];
    std::optional<std::string> overload =
        name.is(ObjectKind::kString) ? torch::own_overload(name.text()) : std::nullopt;
    if (!overload) {
        c.report(kArgumentMismatch, a.ranges[0],
                 name.is(ObjectKind::kString)
                     ? fmt::format("`{}` is not the name of an operator", name.text())
                     : "the name of an operator is a string that is known here")
            .with_help("write it as `namespace::name`");
        return Object::error();
    }
    Object decorator = inline_decorator();
    decorator.get<DecoratorObject>().pytorch_overload = std::move(*overload);
    return decorator;
}

Object sdx_graph(Context& c, const Arguments& a) {
    (void)c, (void)a;
    DecoratorObject decorator;
    decorator.is_graph = true;
    return Object::make(ObjectKind::kDecorator, std::move(decorator));
}

Object sdx_opset(Context& c, const Arguments& a) {
    auto argument = [&a](size_t position, std::string_view name) -> Object {
        const KeywordArgument* keyword = a.find(name);
        return keyword != nullptr               ? keyword->value
               : position < a.positional.size() ? a.positional[position]
                                                : Object::error();
    };
    Object domain = argument(0, "domain"), version = argument(1, "version");
    if (!domain.is(ObjectKind::kString) || !version.is(ObjectKind::kInt) || version.as_int() < 1) {
        return refuse(c, a.range, "`Opset` needs a domain and a version",
                      "write `Opset(\"my.domain\", 1)`");
    }
    return Object::make(ObjectKind::kOpset,
                        OpsetObject{std::string(normal_domain(domain.text())), version.as_int()});
}

Object functools_partial(Context& c, const Arguments& a) {
    (void)c;
    DictObject keywords;
    for (const KeywordArgument& keyword : a.keywords) {
        keywords.set(Object::string(std::string(keyword.name)), keyword.value);
    }
    std::vector<Object> rest(a.positional.begin() + 1, a.positional.end());
    return bind_arguments(a.positional[0], std::move(rest), std::move(keywords));
}

Object py_vars(Context& c, const Arguments& a) {
    return a.positional.empty()
               ? refuse(c, a.range, "`vars` without an argument: a dict of all names around it",
                        "use the names themselves")
               : member(c, a.positional[0], "__dict__", a.range, a.range);
}

Object str_method(Context& c, const Arguments& a) {
    if (!a.positional[1].is(ObjectKind::kString)) {
        refuse(c, a.range, fmt::format("a method of `str` of {}", kind_name(a.positional[1])));
        return a.positional[1].is_static() ? raises(c, "TypeError") : Object::error();
    }
    Object method = member(c, a.positional[1], a.positional[0].text(), a.range, a.range);
    Arguments rest = a;
    rest.positional.erase(rest.positional.begin(), rest.positional.begin() + 2);
    rest.ranges.assign(rest.positional.size(), a.range);
    return method.is_error() ? method : call(c, method, rest);
}

Object dataclass_of_nothing(Context& c, const Arguments& a) {
    return refuse(c, a.range, "`dataclass` that does not decorate a class");
}

Object dataclasses_field(Context& c, const Arguments& a) {
    DictObject how;
    for (const KeywordArgument& keyword : a.keywords) {
        bool is_value = keyword.name == "default" || keyword.name == "default_factory" ||
                        keyword.name == "kw_only" || keyword.name == "init";
        if (keyword.name == "metadata") {
            continue;
        }
        if (!is_value && keyword.name != "repr") {
            return refuse(c, keyword.name_range, fmt::format("`field` with `{}`", keyword.name));
        }
        bool is_hidden = keyword.name == "repr" && truth(keyword.value) != true;
        if (is_value || is_hidden) {
            how.set(Object::string(std::string(keyword.name)), keyword.value);
        }
    }
    return Object::make(ObjectKind::kMethod,
                        MethodObject{Object::dict(std::move(how)), std::string(kField)});
}

Object operator_getitem(Context& c, const Arguments& a) {
    return item_of(c, a.positional[0], a.positional[1], a.range);
}

namespace {

Object getter(std::string_view function, const Arguments& a) {
    Object of = Object::make(ObjectKind::kBuiltin, library_builtin(function));
    return bind_arguments(of, {Object::tuple(a.positional)}, {});
}

// What `get` gives for each of the keys: one value, or a tuple of them.
template <typename Get>
Object got(const Object& keys, const Get& get) {
    std::vector<Object> values;
    for (const Object& key : keys.items()) {
        values.push_back(get(key));
        if (values.back().is_error()) {
            return Object::error();
        }
    }
    return values.size() == 1 ? values[0] : Object::tuple(std::move(values));
}

}  // namespace

Object operator_itemgetter(Context& c, const Arguments& a) {
    (void)c;
    return getter("operator.itemgetter.of", a);
}

Object operator_attrgetter(Context& c, const Arguments& a) {
    for (const Object& name : a.positional) {
        if (!name.is(ObjectKind::kString)) {
            return refuse(c, a.range, fmt::format("`attrgetter` of {}", kind_name(name)),
                          "give the names of members, as strings");
        }
    }
    return getter("operator.attrgetter.of", a);
}

Object items_got(Context& c, const Arguments& a) {
    return got(a.positional[0],
               [&](const Object& key) { return item_of(c, a.positional[1], key, a.range); });
}

// A name with dots goes from member to member.
Object members_got(Context& c, const Arguments& a) {
    return got(a.positional[0], [&](const Object& key) {
        Object at = a.positional[1];
        std::string_view rest = key.text();
        while (!rest.empty() && !at.is_error()) {
            size_t dot = std::min(rest.find('.'), rest.size());
            at = member(c, at, rest.substr(0, dot), a.range, a.range);
            rest.remove_prefix(std::min(dot + 1, rest.size()));
        }
        return at;
    });
}

Object called_unique(Context& c, const Arguments& a) {
    return refuse(c, a.range, "`enum.unique` that does not decorate a class");
}

Object functools_wraps(Context& c, const Arguments& a) {
    (void)c;
    Object of = Object::make(ObjectKind::kBuiltin, library_builtin("functools.wraps.of"));
    return bind_arguments(of, {a.positional[0]}, {});
}

Object wrapped_function(Context& c, const Arguments& a) {
    const Object &of = a.positional[0], &function = a.positional[1];
    std::optional<std::string> name = name_of_function(of);
    if (of.is(ObjectKind::kOpaque)) {
        std::optional<Object> found = c.function().environment->attribute(of, "__name__").value;
        name = found && found->is(ObjectKind::kString) ? std::optional(found->text()) : name;
    }
    bool has_none = of.is(ObjectKind::kOperator) || (of.is(ObjectKind::kOpaque) && !name);
    if (!function.is(ObjectKind::kClosure) || has_none) {
        return function;
    }
    Closure named = function.get<Closure>();
    named.name = name.value_or(std::string(kUnknownFunctionName));
    return Object::make(ObjectKind::kClosure, std::move(named));
}

Object py_cached_property(Context& c, const Arguments& a) {
    (void)c;
    return Object::make(ObjectKind::kMethod,
                        MethodObject{a.positional[0], "functools.cached_property"});
}

namespace {

Object text_of(Context& c, const Arguments& a, Show how, std::string_view name) {
    return a.positional[0].is_static()
               ? show(c, a.positional[0], how, a.range)
               : refuse(c, a.range, fmt::format("`{}` of {}", name, kind_name(a.positional[0])));
}

}  // namespace

Object py_repr(Context& c, const Arguments& a) {
    return text_of(c, a, Show::kRepr, "repr");
}

Object py_ascii(Context& c, const Arguments& a) {
    return text_of(c, a, Show::kAscii, "ascii");
}

Object py_format(Context& c, const Arguments& a) {
    bool has_spec = a.positional.size() > 1;
    if (!a.positional[0].is_static() || (has_spec && !a.positional[1].is(ObjectKind::kString))) {
        return refuse(c, a.range, fmt::format("`format` of {}", kind_name(a.positional[0])));
    }
    return format_object(c, a.positional[0], has_spec ? a.positional[1].text() : "", a.range);
}

namespace {

Object shown_in_base(Context& c, const Arguments& a, std::string_view name, std::string_view spec) {
    Object number = as_python_int(a.positional[0]);
    return number.is_whole()
               ? format_object(c, Object::whole(number.as_whole()), spec, a.range)
               : refuse(c, a.range, fmt::format("`{}` of {}", name, kind_name(number)));
}

}  // namespace

Object py_hex(Context& c, const Arguments& a) {
    return shown_in_base(c, a, "hex", "#x");
}

Object py_oct(Context& c, const Arguments& a) {
    return shown_in_base(c, a, "oct", "#o");
}

Object py_bin(Context& c, const Arguments& a) {
    return shown_in_base(c, a, "bin", "#b");
}

Object py_ord(Context& c, const Arguments& a) {
    const Object& text = a.positional[0];
    bool is_one = text.is(ObjectKind::kString) && text.text().size() == 1 &&
                  static_cast<unsigned char>(text.text()[0]) < 0x80;
    return is_one ? Object::integer(text.text()[0])
                  : refuse(c, a.range, "`ord` of something other than one ASCII character");
}

Object py_chr(Context& c, const Arguments& a) {
    const Object& number = a.positional[0];
    bool is_known = number.is_integer() && number.as_int() >= 0 && number.as_int() < 0x80;
    return is_known ? Object::string(std::string(1, static_cast<char>(number.as_int())))
                    : refuse(c, a.range, "`chr` of a number that is not an ASCII character");
}

Object py_property(Context& c, const Arguments& a) {
    (void)c;
    Object functions = a.positional.size() == 1 ? a.positional[0] : Object::tuple(a.positional);
    return Object::make(ObjectKind::kMethod,
                        MethodObject{std::move(functions), std::string(kProperty)});
}

Object py_classmethod(Context& c, const Arguments& a) {
    (void)c;
    return Object::make(ObjectKind::kMethod, MethodObject{a.positional[0], "classmethod"});
}

Object py_staticmethod(Context& c, const Arguments& a) {
    (void)c;
    return Object::make(ObjectKind::kMethod, MethodObject{a.positional[0], "staticmethod"});
}

Object enum_auto(Context& c, const Arguments& a) {
    (void)c, (void)a;
    return Object::make(ObjectKind::kPythonType, PythonType{std::string(kAuto), {}});
}

Object context_of_nothing(Context& c, const Arguments& a) {
    return refuse(c, a.range, "a context manager outside of a `with`");
}

Object typing_type_var(Context& c, const Arguments& a) {
    (void)c, (void)a;
    return Object::make(ObjectKind::kPythonType, PythonType{"TypeVar", {}});
}

Object bind_arguments(const Object& function, std::vector<Object> first, DictObject keywords) {
    return Object::make(ObjectKind::kPartial,
                        PartialObject{function, std::move(first), std::move(keywords)});
}

Object call_with(Context& c, const Object& function, const Object& self,
                 const Arguments& arguments) {
    return call(c, bind_arguments(function, {self}, {}), arguments);
}

Object call_method_of(Context& c, const Object& method, const Object& instance,
                      std::vector<Object> arguments, Range range) {
    Arguments all;
    all.ranges.assign(arguments.size(), range);
    all.positional = std::move(arguments);
    all.range = all.callee_range = range;
    return call_with(c, method, instance, all);
}

}  // namespace sardonyx::elaborate
