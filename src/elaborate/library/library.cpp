// The modules of the library, and what they have beside functions: types, numbers, opsets.
#include "elaborate/library/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>

#include "elaborate/emit/emitter.h"
#include "elaborate/library/builtin_table.h"
#include "elaborate/library/builtins.h"
#include "elaborate/library/math_functions.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/dict_classes.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/type_objects.h"
#include "ops/ops.h"

namespace sardonyx::elaborate {

namespace {

// --- The tables ----------------------------------------------------------------------------------

struct NumpyType {
    std::string_view name;
    ElementType type;
};

constexpr NumpyType kNumpyTypes[] = {{"float16", ElementType::kFloat16},
                                     {"float32", ElementType::kFloat},
                                     {"float64", ElementType::kDouble},
                                     {"double", ElementType::kDouble},
                                     {"single", ElementType::kFloat},
                                     {"half", ElementType::kFloat16},
                                     {"int8", ElementType::kInt8},
                                     {"int16", ElementType::kInt16},
                                     {"int32", ElementType::kInt32},
                                     {"int64", ElementType::kInt64},
                                     {"uint8", ElementType::kUint8},
                                     {"uint16", ElementType::kUint16},
                                     {"uint32", ElementType::kUint32},
                                     {"uint64", ElementType::kUint64},
                                     {"bool_", ElementType::kBool},
                                     {"complex64", ElementType::kComplex64},
                                     {"complex128", ElementType::kComplex128}};

constexpr std::string_view kTypingNames[] = {"Optional", "Union", "List", "Dict",      "Mapping",
                                             "Sequence", "Tuple", "Any",  "Annotated", "Iterable"};

// Modules by the name that the tables know them under.
struct ModuleRow {
    std::string_view name;
    std::string_view known_as;
};

constexpr ModuleRow kModules[] = {
    {"math", "math"},
    {"numpy", "numpy"},
    {"numpy.linalg", "numpy.linalg"},
    {"statistics", "statistics"},
    {"typing", "typing"},
    {"typing_extensions", "typing"},
    {"collections.abc", "typing"},
    {"collections", "collections"},
    {"abc", "abc"},
    {"__future__", "__future__"},
    {"functools", "functools"},
    {"operator", "operator"},
    {"contextlib", "contextlib"},
    {"itertools", "itertools"},
    {"dataclasses", "dataclasses"},
    {"enum", "enum"},
    {"types", "types"},
    {"onnx", "onnx"},
    {"onnx.helper", "onnx.helper"},
    {"onnx.numpy_helper", "onnx.numpy_helper"},
    {"sardonyx", "sardonyx"},
    {"sardonyx.values", "sardonyx"},
    {"sardonyx.onnx_types", "sardonyx"},
    {"sardonyx.onnx_opset", "sardonyx"},
    {kDeclarations, "declare"},
    {kTorchPackage, "sardonyx.torch"},
    {"onnxscript", "sardonyx"},
    {"onnxscript.values", "sardonyx"},
    {"onnxscript.onnx_types", "sardonyx"},
    {"onnxscript.onnx_opset", "sardonyx"},
};

std::string_view known_as(std::string_view module) {
    for (const ModuleRow& row : kModules) {
        if (row.name == module) {
            return row.known_as;
        }
    }
    return {};
}

std::optional<Object> find_builtin(std::string_view name) {
    std::span<const BuiltinRow> rows = builtin_rows();
    for (size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].name == name) {
            return Object::make(ObjectKind::kBuiltin,
                                BuiltinObject{rows[i].name, static_cast<int>(i)});
        }
    }
    return std::nullopt;
}

// The number at the end of "opset18"; 0: it has another form.
int64_t version_after(std::string_view name, std::string_view prefix) {
    if (name.size() <= prefix.size() || name.size() > prefix.size() + 4 ||
        name.substr(0, prefix.size()) != prefix) {
        return 0;
    }
    int64_t version = 0;
    for (char digit : name.substr(prefix.size())) {
        if (digit < '0' || digit > '9') {
            return 0;
        }
        version = version * 10 + (digit - '0');
    }
    return version;
}

struct OpsetPrefix {
    std::string_view prefix;
    std::string_view domain;
};

constexpr OpsetPrefix kOpsetPrefixes[] = {
    {"opset", ""},
    {"opset_ai_onnx_ml", "ai.onnx.ml"},
    {"opset_ai_onnx_preview_training", "ai.onnx.preview.training"},
    {"opset_ai_onnx_preview", "ai.onnx.preview"}};

std::optional<Object> sardonyx_attribute(std::string_view name) {
    ElementType type = element_type_from_name(name);
    if (type != ElementType::kUndefined) {
        return Object::make(ObjectKind::kType, TypeObject{Type::tensor(type, Shape{}), false});
    }
    for (const OpsetPrefix& row : kOpsetPrefixes) {
        int64_t version = version_after(name, row.prefix);
        const ops::DomainInfo* domain = ops::find_domain(row.domain);
        if (version != 0 && domain != nullptr && version >= domain->oldest_version &&
            version <= domain->newest_version) {
            return Object::make(ObjectKind::kOpset, OpsetObject{std::string(row.domain), version});
        }
    }
    if (name == "script" || name == "graph" || name == "load_weights") {
        return find_builtin(fmt::format("sardonyx.{}", name));
    }
    if (name == "reveal_type") {
        return find_builtin(name);
    }
    if (name == "TensorType" || name == kOptionalType || name == kSparseType) {
        return python_type(name);
    }
    if (name == "Opset") {
        return find_builtin("sardonyx.values.Opset");
    }
    for (std::string_view module : {"values", "onnx_types", "onnx_opset"}) {
        if (name == module) {
            return Object::make(ObjectKind::kModule,
                                ModuleObject{fmt::format("sardonyx.{}", name), nullptr});
        }
    }
    if (name == "torch") {
        return Object::make(ObjectKind::kModule, ModuleObject{std::string(kTorchPackage), nullptr});
    }
    return std::nullopt;
}

std::optional<Object> number_constant(std::string_view module, std::string_view name) {
    if (module != "math" && module != "numpy") {
        return std::nullopt;
    }
    if (name == "pi") {
        return Object::real(3.14159265358979323846);
    }
    if (name == "e") {
        return Object::real(2.71828182845904523536);
    }
    if (name == "tau") {
        return Object::real(6.28318530717958647692);
    }
    if (name == "inf") {
        return Object::real(std::numeric_limits<double>::infinity());
    }
    if (name == "nan") {
        return Object::real(std::numeric_limits<double>::quiet_NaN());
    }
    if (name == "newaxis" && module == "numpy") {
        return Object::none();
    }
    return std::nullopt;
}

std::optional<Object> numpy_attribute(std::string_view name) {
    for (const NumpyType& row : kNumpyTypes) {
        if (row.name == name) {
            return Object::element_type(row.type, TypeForm::kNumpyClass);
        }
    }
    if (name == "linalg") {
        return Object::make(ObjectKind::kModule, ModuleObject{"numpy.linalg", nullptr});
    }
    constexpr std::string_view kClasses[] = {"ndarray",         "generic", "number",
                                             "integer",         "inexact", "signedinteger",
                                             "unsignedinteger", "floating"};
    bool is_class = std::find(std::begin(kClasses), std::end(kClasses), name) != std::end(kClasses);
    return is_class ? std::optional<Object>(python_type(name)) : std::nullopt;
}

constexpr int kMathIndex = -1;  // BuiltinObject::index of the real functions

}  // namespace

Object python_type(std::string_view name) {
    return Object::make(ObjectKind::kPythonType, PythonType{std::string(name), {}});
}

std::optional<Object> library_name(std::string_view name) {
    if (is_builtin_type(name) || is_exception_type(name)) {
        return python_type(name);
    }
    if (name == kNotImplemented) {
        return python_type(name);
    }
    if (name == "Ellipsis") {
        return Object::ellipsis();
    }
    return name.find('.') == std::string_view::npos ? find_builtin(name) : std::nullopt;
}

std::vector<std::string_view> library_names() {
    std::vector<std::string_view> names(std::begin(kBuiltinTypes), std::end(kBuiltinTypes));
    for (const BuiltinRow& row : builtin_rows()) {
        if (row.name.find('.') == std::string_view::npos) {
            names.push_back(row.name);
        }
    }
    return names;
}

std::vector<std::string_view> library_modules() {
    std::vector<std::string_view> names;
    for (const ModuleRow& row : kModules) {
        names.push_back(row.name);
    }
    return names;
}

bool is_library_module(std::string_view module) {
    return !known_as(module).empty();
}

std::optional<Object> library_attribute(std::string_view module, std::string_view name) {
    std::string_view known = known_as(module);
    if (known == "sardonyx") {
        return sardonyx_attribute(name);
    }
    if (known == "declare" && name == "op") {
        return Object::make(ObjectKind::kOpset, OpsetObject{"", kLibraryOpset});
    }
    if (known == "declare" && name == "inline") {
        return inline_decorator();
    }
    if (std::optional<Object> number = number_constant(known, name)) {
        return number;
    }
    if (std::optional<Object> builtin = find_builtin(fmt::format("{}.{}", known, name))) {
        return builtin;
    }
    if ((known == "math" || known == "numpy") && is_real_function(known, name)) {
        return Object::make(ObjectKind::kBuiltin,
                            BuiltinObject{real_function_name(known, name), kMathIndex});
    }
    if (known == "numpy") {
        return numpy_attribute(name);
    }
    if (known == "onnx") {
        if (name == "TensorProto") {
            return python_type(name);
        }
        if (name == "helper") {
            return Object::make(ObjectKind::kModule, ModuleObject{"onnx.helper", nullptr});
        }
        if (name == "numpy_helper") {
            return Object::make(ObjectKind::kModule, ModuleObject{"onnx.numpy_helper", nullptr});
        }
    }
    if (known == "collections" && name == "abc") {
        return Object::make(ObjectKind::kModule, ModuleObject{"collections.abc", nullptr});
    }
    if (known == "typing" && std::find(std::begin(kTypingNames), std::end(kTypingNames), name) !=
                                 std::end(kTypingNames)) {
        return python_type(name);
    }
    if ((known == "typing" && name == kNamedTuple) ||
        (known == "collections" && name != "dict" && dict_class(name))) {
        return python_type(name);
    }
    if (known == "dataclasses" && (name == "KW_ONLY" || name == "InitVar")) {
        return python_type(name);
    }
    if (known == "enum" && is_enumeration_type(name)) {
        return python_type(name);
    }
    if ((known == "abc" && name == "ABC") ||
        (known == "typing" && (name == "Generic" || name == "Protocol"))) {
        return python_type(name);
    }
    if (known == "typing" && name == "TYPE_CHECKING") {
        return Object::boolean(false);
    }
    if (known == "__future__") {
        return Object::none();
    }
    return std::nullopt;
}

bool surely_lacks(std::string_view module, std::string_view name) {
    // What the package has beside what scripts know (tests/python/diagnostics/test_files.py
    // compares them).
    static constexpr std::string_view kForPython[] = {
        "AttributeReference",
        "Builder",
        "CancelToken",
        "CancelledError",
        "CompileError",
        "Dim",
        "EvalError",
        "Expression",
        "Function",
        "Graph",
        "Model",
        "ModelError",
        "Node",
        "OnnxFunction",
        "ScriptWarning",
        "Tensor",
        "TracedOnnxFunction",
        "Type",
        "Value",
        "compile",
        "decompile",
        "evaluator",
        "export_onnx_lib",
        "external_tensor",
        "from_text",
        "load",
        "load_library",
        "load_schemas",
        "proto2python",
        "tensor",
        "onnx_opset",
        "onnx_types",
        "schemas",
        "torch",
        "values",
    };
    return module == "sardonyx" && !name.empty() && name[0] != '_' &&
           !library_attribute(module, name) &&
           std::find(std::begin(kForPython), std::end(kForPython), name) == std::end(kForPython);
}

std::vector<std::string_view> library_module_names(std::string_view module) {
    std::vector<std::string_view> names;
    std::string_view known = known_as(module);
    for (const BuiltinRow& row : builtin_rows()) {
        size_t dot = row.name.rfind('.');
        if (dot != std::string_view::npos && row.name.substr(0, dot) == known) {
            names.push_back(row.name.substr(dot + 1));
        }
    }
    if (known == "math" || known == "numpy") {
        for (const RealFunction& row : real_functions()) {
            names.push_back(row.name);
        }
    }
    if (known == "sardonyx") {
        for (int i = 1; i < kElementTypeCount; ++i) {
            names.push_back(kElementTypeInfos[i].name);
        }
    }
    return names;
}

BuiltinObject library_builtin(std::string_view name) {
    std::optional<Object> found = find_builtin(name);
    SDX_CHECK(found.has_value());
    return found->get<BuiltinObject>();
}

bool is_left_to_python(const Object& object) {
    return object.is(ObjectKind::kBuiltin) && object.get<BuiltinObject>().index >= 0 &&
           builtin_rows()[static_cast<size_t>(object.get<BuiltinObject>().index)].is_pythons;
}

bool is_builtin(const Object& object, std::string_view name) {
    return object.is(ObjectKind::kBuiltin) && object.get<BuiltinObject>().name == name;
}

namespace {

// Python's own functions of numbers, which ask a scalar of NumPy for its float or int.
bool takes_plain_numbers(std::string_view builtin) {
    return builtin.starts_with("math.") || builtin == "range";
}

}  // namespace

Object call_library(Context& c, const BuiltinObject& builtin, const Arguments& given) {
    Arguments plain;
    auto is_array = [](const Object& one) { return one.is(ObjectKind::kConstant); };
    bool is_plain = !takes_plain_numbers(builtin.name) ||
                    std::none_of(given.positional.begin(), given.positional.end(), is_array);
    if (!is_plain) {
        plain = given;
        std::transform(plain.positional.begin(), plain.positional.end(), plain.positional.begin(),
                       plain_number);
    }
    const Arguments& arguments = is_plain ? given : plain;
    bool is_math_row = builtin.index == kMathIndex;
    const BuiltinRow* row =
        is_math_row ? nullptr : &builtin_rows()[static_cast<size_t>(builtin.index)];
    size_t least = is_math_row ? 1 : row->least, most = is_math_row ? 1 : row->most;
    size_t count = arguments.positional.size();
    if (count < least || count > most) {
        c.report(kArgumentMismatch, arguments.range,
                 fmt::format("`{}` takes {} argument{}, not {}", builtin.name,
                             most == least      ? fmt::format("{}", least)
                             : most == SIZE_MAX ? fmt::format("at least {}", least)
                                                : fmt::format("{} to {}", least, most),
                             most == 1 ? "" : "s", count))
            .with_help(count < least ? "give the rest" : "remove the rest");
        return Object::error();
    }
    if (!arguments.keywords.empty() && (is_math_row || !row->takes_keywords)) {
        c.report(kArgumentMismatch, arguments.keywords[0].name_range,
                 fmt::format("`{}` takes no keyword arguments here", builtin.name))
            .with_help("give the arguments by position");
        return Object::error();
    }
    for (size_t i = 0; (is_math_row || !row->takes_tuples) && i < count; ++i) {
        if (arguments.positional[i].is_shape_tensor()) {
            c.report(kStaticRequired, arguments.ranges[i],
                     fmt::format("`{}` of a shape whose length is not known", builtin.name))
                .with_help("annotate the tensor with its dimensions");
            return Object::error();
        }
    }
    return is_math_row ? call_real_function(c, builtin, arguments) : row->function(c, arguments);
}

}  // namespace sardonyx::elaborate
