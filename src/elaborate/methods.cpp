// Methods of lists, dicts, strings and tensors, and Python's types called as functions.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "elaborate/emit.h"
#include "elaborate/library.h"
#include "elaborate/statics.h"

namespace sardonyx::elaborate {

namespace {

// Whether a list is among the parts of an object; true also for what is nested too deeply to tell.
bool holds(const Object& object, const Object& list, int depth) {
    if (object.pointer() == list.pointer() || depth > 32) {
        return true;
    }
    if (object.is(ObjectKind::kDict)) {
        const auto& items = object.get<DictObject>().items;
        return std::any_of(items.begin(), items.end(), [&list, depth](const auto& item) {
            return (item.second.is_sequence() || item.second.is(ObjectKind::kDict)) &&
                   holds(item.second, list, depth + 1);
        });
    }
    return object.is_sequence() &&
           std::any_of(object.items().begin(), object.items().end(),
                       [&list, depth](const Object& item) {
                           return (item.is_sequence() || item.is(ObjectKind::kDict)) &&
                                  holds(item, list, depth + 1);
                       });
}

Object list_method(Context& c, const MethodObject& method, const Arguments& a) {
    std::vector<Object>& items = method.self.items();
    std::string_view name = method.name;
    if (name == "append" && a.positional.size() == 1 && method.self.is(ObjectKind::kList)) {
        if (c.graph != c.unit->graph) {
            c.report(kUnsupportedStatement, a.range,
                     "a list is changed inside a loop or branch that runs in the graph")
                .with_help("use a sequence: `xs = op.SequenceInsert(xs, x)`");
            return Object::error();
        }
        if (static_cast<int64_t>(items.size()) >= c.options.limits.text_bytes) {
            c.report(kLimitExceeded, a.range, "the list grows too long");
            return Object::error();
        }
        if (a.positional[0].is_sequence() || a.positional[0].is(ObjectKind::kDict)) {
            if (holds(a.positional[0], method.self, 0)) {
                return refuse(c, a.range, "a list is put into itself", "append a copy of it");
            }
        }
        items.push_back(a.positional[0]);
        c.appended.push_back(method.self);
        return Object::none();
    }
    if (name == "index" && a.positional.size() == 1) {
        for (size_t i = 0; i < items.size(); ++i) {
            if (equal(items[i], a.positional[0])) {
                return Object::integer(static_cast<int64_t>(i));
            }
        }
        return refuse(c, a.range, fmt::format("{} is not in the list", repr(a.positional[0])));
    }
    if (name == "count" && a.positional.size() == 1) {
        return Object::integer(std::count_if(items.begin(), items.end(), [&a](const Object& item) {
            return equal(item, a.positional[0]);
        }));
    }
    if (name == "copy" && a.positional.empty()) {
        return Object::list(items);
    }
    return refuse(c, a.range, fmt::format("`{}` on {} in a script", name, kind_name(method.self)),
                  "build a new list, as in `xs = xs + [x]`");
}

Object dict_method(const MethodObject& method, const Arguments& a) {
    const DictObject& dict = method.self.get<DictObject>();
    std::string_view name = method.name;
    if (name == "get" && !a.positional.empty()) {
        const Object* found = dict.find(a.positional[0]);
        return found != nullptr          ? *found
               : a.positional.size() > 1 ? a.positional[1]
                                         : Object::none();
    }
    std::vector<Object> items;
    for (const auto& [key, value] : dict.items) {
        items.push_back(name == "keys"     ? key
                        : name == "values" ? value
                                           : Object::tuple({key, value}));
    }
    return name == "copy" ? Object::dict(dict) : Object::list(std::move(items));
}

Object string_method(Context& c, const MethodObject& method, const Arguments& a) {
    const std::string& text = method.self.text();
    std::string_view name = method.name;
    auto argument = [&a](size_t i) -> const std::string* {
        return i < a.positional.size() && a.positional[i].is(ObjectKind::kString)
                   ? &a.positional[i].text()
                   : nullptr;
    };
    if (name == "upper" || name == "lower") {
        std::string result = text;
        for (char& ch : result) {
            unsigned char byte = static_cast<unsigned char>(ch);
            ch = static_cast<char>(name == "upper" ? std::toupper(byte) : std::tolower(byte));
        }
        return Object::string(std::move(result));
    }
    if (name == "strip" && a.positional.empty()) {
        size_t begin = text.find_first_not_of(" \t\r\n"), end = text.find_last_not_of(" \t\r\n");
        return Object::string(begin == std::string::npos ? ""
                                                         : text.substr(begin, end - begin + 1));
    }
    if (name == "startswith" && argument(0) != nullptr) {
        return Object::boolean(text.rfind(*argument(0), 0) == 0);
    }
    if (name == "endswith" && argument(0) != nullptr) {
        const std::string& tail = *argument(0);
        return Object::boolean(text.size() >= tail.size() &&
                               text.compare(text.size() - tail.size(), tail.size(), tail) == 0);
    }
    return refuse(c, a.range, fmt::format("`{}` on a string in a script", name),
                  "compute the string outside the script");
}

Object tensor_method(Context& c, const MethodObject& method, const Arguments& a) {
    Arguments call = a;
    call.positional.insert(call.positional.begin(), method.self);
    call.ranges.insert(call.ranges.begin(), a.callee_range);
    if (method.name == "astype" && a.positional.size() == 1) {
        call.keywords.push_back({"to", a.positional[0], a.ranges[0], a.ranges[0]});
        call.positional.pop_back();
        call.ranges.pop_back();
        return call_operator(c, operator_opset(c), "Cast", call, 0);
    }
    if (method.name == "reshape" && !a.positional.empty()) {
        if (a.positional.size() > 1) {
            call.positional = {method.self, Object::list(a.positional)};
            call.ranges = {a.callee_range, a.range};
        }
        return call_operator(c, operator_opset(c), "Reshape", call, 0);
    }
    return refuse(c, a.range, fmt::format("`{}` on a tensor in a script", method.name),
                  "call an operator: `op.ReduceSum(x)`");
}

// int("3"), float("inf").
Object parse_number(Context& c, const std::string& text, bool is_int, const Arguments& a) {
    char* end = nullptr;
    if (is_int) {
        errno = 0;
        long long value = std::strtoll(text.c_str(), &end, 10);
        if (end != text.c_str() && *end == 0 && errno == 0) {
            return Object::integer(value);
        }
    } else {
        double value = std::strtod(text.c_str(), &end);
        if (end != text.c_str() && *end == 0) {
            return Object::real(value);
        }
    }
    return refuse(c, a.range, fmt::format("{} is no number", repr(Object::string(text))));
}

Object cast_tensor(Context& c, const Arguments& a, ElementType type) {
    ir::Value* value = as_value(c, a.positional[0], a.ranges[0]);
    if (value == nullptr) {
        return Object::error();
    }
    ir::Value* cast =
        Emitter(c, a.range)
            .emit("Cast", {value}, {ir::make_attribute("to", static_cast<int64_t>(type))});
    return cast != nullptr ? Object::tensor(cast) : Object::error();
}

}  // namespace

Object call_method(Context& c, const MethodObject& method, const Arguments& arguments) {
    switch (method.self.kind()) {
        case ObjectKind::kList:
        case ObjectKind::kTuple:
            return list_method(c, method, arguments);
        case ObjectKind::kDict:
            return dict_method(method, arguments);
        case ObjectKind::kString:
            return string_method(c, method, arguments);
        default:
            return tensor_method(c, method, arguments);
    }
}

Object call_python_type(Context& c, const PythonType& type, const Arguments& a) {
    const std::string& name = type.name;
    if (a.positional.size() != 1) {
        if (a.positional.empty() && (name == "list" || name == "tuple")) {
            return name == "list" ? Object::list({}) : Object::tuple({});
        }
        return refuse(c, a.range, fmt::format("`{}` with {} arguments", name, a.positional.size()));
    }
    const Object& object = a.positional[0];
    bool is_tensor = object.is_tensor() || object.is(ObjectKind::kAttribute);
    if (name == "int" || name == "float" || name == "bool") {
        if (is_tensor) {
            return cast_tensor(c, a,
                               name == "int"     ? ElementType::kInt64
                               : name == "float" ? ElementType::kFloat
                                                 : ElementType::kBool);
        }
        if (name == "bool" && truth(object)) {
            return Object::boolean(*truth(object));
        }
        if (object.is(ObjectKind::kString)) {
            return parse_number(c, object.text(), name == "int", a);
        }
        if (object.is(ObjectKind::kConstant) && object.get<Tensor>().count() == 1) {
            if (std::optional<std::vector<double>> values = to_doubles(object.get<Tensor>())) {
                return name == "int" ? Object::integer(static_cast<int64_t>((*values)[0]))
                                     : Object::real((*values)[0]);
            }
        }
        if (object.is_number() && name == "float") {
            return Object::real(object.as_double());
        }
        if (object.is_integer()) {
            return Object::integer(object.as_int());
        }
        if (object.is_number() && std::fabs(object.as_double()) < 9.2e18) {
            return Object::integer(static_cast<int64_t>(object.as_double()));
        }
        return refuse(c, a.range, fmt::format("`{}` of {}", name, kind_name(object)));
    }
    if (name == "str" && object.is_static()) {
        return Object::string(object.is(ObjectKind::kString) ? object.text() : repr(object));
    }
    if (name == "list" || name == "tuple") {
        if (std::optional<std::vector<Object>> items = static_items(c, object)) {
            return name == "list" ? Object::list(std::move(*items))
                                  : Object::tuple(std::move(*items));
        }
    }
    return refuse(c, a.range, fmt::format("`{}` of {}", name, kind_name(object)));
}

}  // namespace sardonyx::elaborate
