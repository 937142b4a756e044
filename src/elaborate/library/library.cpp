// The tables of the library, and what its modules have beside numbers, lists and arrays.
#include "elaborate/library/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>

#include "elaborate/emit/emitter.h"
#include "elaborate/library/array_choices.h"
#include "elaborate/library/array_functions.h"
#include "elaborate/library/array_reductions.h"
#include "elaborate/library/array_shapes.h"
#include "elaborate/library/builtins.h"
#include "elaborate/library/classes.h"
#include "elaborate/library/instance_checks.h"
#include "elaborate/library/integer_math.h"
#include "elaborate/library/iterable_builtins.h"
#include "elaborate/library/itertools.h"
#include "elaborate/library/math_functions.h"
#include "elaborate/library/number_builtins.h"
#include "elaborate/library/numpy_functions.h"
#include "elaborate/library/operator_functions.h"
#include "elaborate/library/weights.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/type_objects.h"
#include "ops/ops.h"

namespace sardonyx::elaborate {

namespace {

// --- The tables ----------------------------------------------------------------------------------

using BuiltinFunction = Object (*)(Context&, const Arguments&);

struct BuiltinRow {
    std::string_view name;  // dotted, but for Python's builtins
    BuiltinFunction function;
    size_t least;  // positional arguments
    size_t most;
    bool takes_keywords = false;
    bool takes_tuples = false;  // of unknown length
    bool is_pythons = false;    // where Python runs, NumPy computes it
};

constexpr BuiltinRow kBuiltins[] = {
    {"len", py_len, 1, 1, false, true},
    {"range", py_range, 1, 3},
    {"max", py_max, 1, SIZE_MAX, true, true},
    {"min", py_min, 1, SIZE_MAX, true, true},
    {"abs", py_abs, 1, 1},
    {"round", py_round, 1, 2},
    {"pow", py_pow, 2, 3},
    {"divmod", py_divmod, 2, 2},
    {"sum", py_sum, 1, 2, false, true},
    {"zip", py_zip, 0, SIZE_MAX, true},
    {"map", py_map, 2, SIZE_MAX},
    {"filter", py_filter, 2, 2},
    {"enumerate", py_enumerate, 1, 2, true},
    {"reversed", py_reversed, 1, 1},
    {"sorted", py_sorted, 1, 1, true},
    {"iter", py_iter, 1, 1},
    {"next", py_next, 1, 2},
    {"all", py_all, 1, 1, false, true},
    {"any", py_any, 1, 1, false, true},
    {"print", py_print, 0, SIZE_MAX, true, true},
    {"slice", py_slice, 1, 3},
    {"property", py_property, 1, 1},
    {"classmethod", py_classmethod, 1, 1},
    {"staticmethod", py_staticmethod, 1, 1},
    {"isinstance", py_isinstance, 2, 2, false, true},
    {"hasattr", py_hasattr, 2, 2, false, true},
    {"getattr", py_getattr, 2, 3, false, true},
    {"repr", py_repr, 1, 1},
    {"hex", py_hex, 1, 1},
    {"oct", py_oct, 1, 1},
    {"bin", py_bin, 1, 1},
    {"ascii", py_ascii, 1, 1},
    {"format", py_format, 1, 2},
    {"reveal_type", py_reveal_type, 1, 1, false, true},
    {"typing.reveal_type", py_reveal_type, 1, 1, false, true},
    {"math.floor", math_floor, 1, 1},
    {"math.ceil", math_ceil, 1, 1},
    {"math.prod", math_prod, 1, 1, false, true},
    {"math.pow", math_pow, 2, 2},
    {"math.log", math_log, 1, 2},
    {"math.atan2", math_atan2, 2, 2},
    {"math.copysign", math_copysign, 2, 2},
    {"math.fmod", math_fmod, 2, 2},
    {"math.isfinite", math_isfinite, 1, 1},
    {"math.isinf", math_isinf, 1, 1},
    {"math.isnan", math_isnan, 1, 1},
    {"math.gcd", math_gcd, 0, SIZE_MAX},
    {"math.lcm", math_lcm, 0, SIZE_MAX},
    {"math.comb", math_comb, 2, 2},
    {"math.perm", math_perm, 1, 2},
    {"math.factorial", math_factorial, 1, 1},
    {"math.isqrt", math_isqrt, 1, 1},
    {"numpy.array", np_array, 1, 2, true},
    {"numpy.asarray", np_asarray, 1, 2, true},
    {"numpy.zeros", np_zeros, 1, 2, true},
    {"numpy.ones", np_ones, 1, 2, true},
    {"numpy.full", np_full, 2, 3, true},
    {"numpy.arange", np_arange, 1, 3, true},
    {"numpy.linspace", np_linspace, 0, 4, true},
    {"numpy.eye", np_eye, 1, 2, true},
    {"numpy.identity", np_eye, 1, 1},
    {"numpy.zeros_like", np_zeros_like, 1, 2, true},
    {"numpy.ones_like", np_ones_like, 1, 2, true},
    {"numpy.full_like", np_full_like, 2, 3, true},
    {"numpy.prod", np_prod, 1, 2, true},
    {"numpy.concatenate", np_concatenate, 1, 2, true, false, true},
    {"numpy.stack", np_stack, 1, 2, true, false, true},
    {"numpy.vstack", np_vstack, 1, 1, false, false, true},
    {"numpy.hstack", np_hstack, 1, 1, false, false, true},
    {"numpy.where", np_where, 1, 3, false, false, true},
    {"numpy.maximum", np_maximum, 2, 2, false, false, true},
    {"numpy.minimum", np_minimum, 2, 2, false, false, true},
    {"numpy.clip", np_clip, 1, 3, true, false, true},
    {"numpy.transpose", np_transpose, 1, 2, true, false, true},
    {"numpy.flip", np_flip, 1, 2, true, false, true},
    {"numpy.tile", np_tile, 1, 2, true, false, true},
    {"numpy.repeat", np_repeat, 1, 3, true, false, true},
    {"numpy.expand_dims", np_expand_dims, 1, 2, true, false, true},
    {"numpy.squeeze", np_squeeze, 1, 2, true, false, true},
    {"numpy.reshape", np_reshape, 1, 2, true, false, true},
    {"numpy.ravel", np_ravel, 1, 1, true, false, true},
    {"numpy.broadcast_to", np_broadcast_to, 2, 2, true, false, true},
    {"numpy.pad", np_pad, 2, 2, true, false, true},
    {"numpy.triu", np_triu, 1, 2, true, false, true},
    {"numpy.tril", np_tril, 1, 2, true, false, true},
    {"numpy.diag", np_diag, 1, 2, true, false, true},
    {"numpy.outer", np_outer, 2, 2, true, false, true},
    {"numpy.cumsum", np_cumsum, 1, 2, true, false, true},
    {"numpy.sort", np_sort, 1, 2, true, false, true},
    {"numpy.argsort", np_argsort, 1, 2, true, false, true},
    {"numpy.load", load_array, 1, 2, true},
    {"functools.partial", functools_partial, 1, SIZE_MAX, true},
    {"functools.wraps", functools_wraps, 1, 1},
    {"functools.wraps.of", wrapped_function, 2, 2},
    {"dataclasses.replace", dataclasses_replace, 1, 1, true, false, true},
    {"numpy.finfo", np_finfo, 1, 1},
    {"numpy.iinfo", np_iinfo, 1, 1},
    {"numpy.sum", np_sum, 1, 2, true, false, true},
    {"numpy.mean", np_mean, 1, 2, true, false, true},
    {"numpy.max", np_max, 1, 2, true, false, true},
    {"numpy.min", np_min, 1, 2, true, false, true},
    {"numpy.argmax", np_argmax, 1, 2, true, false, true},
    {"numpy.argmin", np_argmin, 1, 2, true, false, true},
    {"numpy.all", np_all, 1, 2, true, false, true},
    {"numpy.any", np_any, 1, 2, true, false, true},
    {"operator.add", operator_binary<syntax::BinaryOp::kAdd>, 2, 2},
    {"operator.sub", operator_binary<syntax::BinaryOp::kSub>, 2, 2},
    {"operator.mul", operator_binary<syntax::BinaryOp::kMul>, 2, 2},
    {"operator.truediv", operator_binary<syntax::BinaryOp::kDiv>, 2, 2},
    {"operator.floordiv", operator_binary<syntax::BinaryOp::kFloorDiv>, 2, 2},
    {"operator.mod", operator_binary<syntax::BinaryOp::kMod>, 2, 2},
    {"operator.pow", operator_binary<syntax::BinaryOp::kPow>, 2, 2},
    {"operator.matmul", operator_binary<syntax::BinaryOp::kMatMul>, 2, 2},
    {"operator.and_", operator_binary<syntax::BinaryOp::kBitAnd>, 2, 2},
    {"operator.or_", operator_binary<syntax::BinaryOp::kBitOr>, 2, 2},
    {"operator.xor", operator_binary<syntax::BinaryOp::kBitXor>, 2, 2},
    {"operator.lshift", operator_binary<syntax::BinaryOp::kLeftShift>, 2, 2},
    {"operator.rshift", operator_binary<syntax::BinaryOp::kRightShift>, 2, 2},
    {"operator.eq", operator_compare<syntax::CompareOp::kEq>, 2, 2},
    {"operator.ne", operator_compare<syntax::CompareOp::kNotEq>, 2, 2},
    {"operator.lt", operator_compare<syntax::CompareOp::kLt>, 2, 2},
    {"operator.le", operator_compare<syntax::CompareOp::kLtE>, 2, 2},
    {"operator.gt", operator_compare<syntax::CompareOp::kGt>, 2, 2},
    {"operator.ge", operator_compare<syntax::CompareOp::kGtE>, 2, 2},
    {"functools.reduce", functools_reduce, 2, 3},
    {"itertools.product", itertools_product, 0, SIZE_MAX, true},
    {"itertools.chain", itertools_chain, 0, SIZE_MAX},
    {"itertools.chain.from_iterable", itertools_from_iterable, 1, 1},
    {"itertools.accumulate", itertools_accumulate, 1, 2, true},
    {"itertools.zip_longest", itertools_zip_longest, 0, SIZE_MAX, true},
    {"itertools.islice", itertools_islice, 2, 4},
    {"itertools.repeat", itertools_repeat, 1, 2, true},
    {"itertools.combinations", itertools_combinations, 2, 2},
    {"itertools.permutations", itertools_permutations, 1, 2},
    {"itertools.pairwise", itertools_pairwise, 1, 1},
    {"itertools.starmap", itertools_starmap, 2, 2},
    {"dataclasses.dataclass", dataclass_of_nothing, 0, SIZE_MAX, true},
    {"dataclasses.field", dataclasses_field, 0, 0, true},
    {"functools.cached_property", py_cached_property, 1, 1},
    {"ord", py_ord, 1, 1},
    {"chr", py_chr, 1, 1},
    {"math.trunc", math_trunc, 1, 1},
    {"contextlib.nullcontext", context_of_nothing, 0, SIZE_MAX, true},
    {"contextlib.suppress", context_of_nothing, 0, SIZE_MAX, true},
    {"enum.auto", enum_auto, 0, 0},
    {"onnx.numpy_helper.from_array", copied_array, 1, 2, true},
    {"onnx.numpy_helper.to_array", copied_array, 1, 1},
    {"onnx.helper.make_tensor", make_tensor, 0, 4, true},
    {"sardonyx.script", sdx_script, 0, SIZE_MAX, true},
    {"sardonyx.graph", sdx_graph, 0, 0},
    {"sardonyx.load_weights", load_weights, 1, 1},
    {"declare.aten", declared_inline, 1, SIZE_MAX, true},
    {"declare.pairs", declared_inline, 1, SIZE_MAX},
    {"declare.prims", declared_inline, 1, 1},
    {"declare.alias", declared_alias, 2, 2},
    {"sardonyx.torch.operator", declared_operator, 1, 1},
    {"sardonyx.values.Opset", sdx_opset, 0, 2, true},
    {"typing.TypeVar", typing_type_var, 1, SIZE_MAX, true},
};

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

constexpr std::string_view kPythonTypes[] = {"int",   "float", "bool", "str",      "list",
                                             "tuple", "dict",  "set",  "frozenset"};

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
    {"typing", "typing"},
    {"typing_extensions", "typing"},
    {"collections.abc", "typing"},
    {"collections", "collections"},
    {"__future__", "__future__"},
    {"functools", "functools"},
    {"operator", "operator"},
    {"contextlib", "contextlib"},
    {"itertools", "itertools"},
    {"dataclasses", "dataclasses"},
    {"enum", "enum"},
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

Object python_type(std::string_view name) {
    return Object::make(ObjectKind::kPythonType, PythonType{std::string(name), {}});
}

std::optional<Object> find_builtin(std::string_view name) {
    for (size_t i = 0; i < std::size(kBuiltins); ++i) {
        if (kBuiltins[i].name == name) {
            return Object::make(ObjectKind::kBuiltin,
                                BuiltinObject{kBuiltins[i].name, static_cast<int>(i)});
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
    constexpr std::string_view kClasses[] = {"ndarray",         "generic", "number",
                                             "integer",         "inexact", "signedinteger",
                                             "unsignedinteger", "floating"};
    bool is_class = std::find(std::begin(kClasses), std::end(kClasses), name) != std::end(kClasses);
    return is_class ? std::optional<Object>(python_type(name)) : std::nullopt;
}

constexpr int kMathIndex = -1;  // BuiltinObject::index of the real functions

}  // namespace

std::optional<Object> library_name(std::string_view name) {
    if (std::find(std::begin(kPythonTypes), std::end(kPythonTypes), name) !=
            std::end(kPythonTypes) ||
        is_exception_type(name)) {
        return python_type(name);
    }
    if (name == "Ellipsis") {
        return Object::ellipsis();
    }
    return name.find('.') == std::string_view::npos ? find_builtin(name) : std::nullopt;
}

std::vector<std::string_view> library_names() {
    std::vector<std::string_view> names(std::begin(kPythonTypes), std::end(kPythonTypes));
    for (const BuiltinRow& row : kBuiltins) {
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
    if (known == "enum" && (name == "Enum" || name == "IntEnum" || name == "StrEnum")) {
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

std::vector<std::string_view> library_module_names(std::string_view module) {
    std::vector<std::string_view> names;
    std::string_view known = known_as(module);
    for (const BuiltinRow& row : kBuiltins) {
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
           kBuiltins[static_cast<size_t>(object.get<BuiltinObject>().index)].is_pythons;
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
    const BuiltinRow* row = is_math_row ? nullptr : &kBuiltins[static_cast<size_t>(builtin.index)];
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
