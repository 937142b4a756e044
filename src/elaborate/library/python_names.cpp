#include "elaborate/library/python_names.h"

#include <string>

#include "elaborate/library/call_caches.h"
#include "elaborate/library/library.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/type_objects.h"

namespace sardonyx::elaborate {
namespace {

// Where the library has what Python says is of `module`, which may be an inner one of a package.
std::string public_module(std::string_view module) {
    if (module == "collections.abc") {
        return "typing";
    }
    // functools.reduce is of _functools, which is written in C.
    if (module.starts_with('_') && is_library_module(module.substr(1))) {
        return std::string(module.substr(1));
    }
    return std::string(module);
}

std::string package_of(std::string_view module) {
    std::string_view package = module.substr(0, module.find('.'));
    bool is_flat = package == "onnx" || package == "sardonyx" || package == "onnxscript";
    return std::string(is_flat ? package : module);
}

}  // namespace

std::optional<Object> object_called(std::string_view module, std::string_view name) {
    if (module == "builtins") {
        std::optional<Object> found =
            name == kNoneType ? std::optional(python_type(name)) : library_name(name);
        return found && !is_left_to_python(*found) ? found : std::nullopt;
    }
    std::string home = public_module(module);
    for (const std::string& one : {home, package_of(home)}) {
        std::optional<Object> found =
            is_library_module(one) ? library_attribute(one, name) : std::nullopt;
        if (found && !is_left_to_python(*found)) {
            return found;
        }
    }
    return std::nullopt;
}

std::optional<Object> function_called(std::string_view module, std::string_view name) {
    std::optional<Object> found = module == "builtins"        ? library_name(name)
                                  : is_library_module(module) ? library_attribute(module, name)
                                                              : std::nullopt;
    return found && found->is(ObjectKind::kBuiltin) ? found : std::nullopt;
}

std::optional<Object> member_of_module(std::string_view module, std::string_view name) {
    if (!is_library_module(module) || name == "load") {  // numpy.load
        return std::nullopt;
    }
    std::optional<Object> found = library_attribute(module, name);
    return found && !is_left_to_python(*found) ? found : std::nullopt;
}

Object generic_class(std::string_view name, std::vector<Object> arguments) {
    return Object::make(
        ObjectKind::kPythonType,
        PythonType{std::string(name == "UnionType" ? "Union" : name), std::move(arguments)});
}

Object member_made_by(std::string_view maker, const Object& value) {
    if (maker == "functools.cache") {
        return cached_function(value, Object::none());
    }
    if (maker.empty()) {
        return value;
    }
    Object self = value;
    if (maker == kField) {
        DictObject keywords;
        keywords.set(Object::string("default_factory"), value);
        self = Object::dict(std::move(keywords));
    }
    return Object::make(ObjectKind::kMethod, MethodObject{self, std::string(maker)});
}

}  // namespace sardonyx::elaborate
