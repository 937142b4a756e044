// Members of objects: op.Add, x.shape, math.pi, FLOAT.dtype.
#include "elaborate/library/members.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/nearest.h"
#include "elaborate/emit/as_value.h"
#include "elaborate/emit/emit.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/emit/operator_binding.h"
#include "elaborate/emit/opsets.h"
#include "elaborate/emit/repairs.h"
#include "elaborate/emit/sizes.h"
#include "elaborate/library/builtins.h"
#include "elaborate/library/classes.h"
#include "elaborate/library/instance_checks.h"
#include "elaborate/library/library.h"
#include "elaborate/library/named_tuples.h"
#include "elaborate/library/super_objects.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/element_types.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/tolerance.h"
#include "elaborate/objects/unknowns.h"
#include "elaborate/scopes/hidden_name.h"
#include "lowering/members.h"
#include "ops/substitutes.h"
#include "types/numpy_names.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

Object no_member(Context& c, const Object& object, std::string_view name, Range range,
                 std::span<const std::string_view> known, std::string reason = {}) {
    // What another library calls an element type stands for a type of the module that has them.
    std::string_view near = element_name_meant(name);
    if (std::find(known.begin(), known.end(), near) == known.end()) {
        near = nearest(name, known);
    }
    std::string_view module =
        object.is(ObjectKind::kModule) ? std::string_view(object.get<ModuleObject>().name) : "";
    bool is_missing = surely_lacks(module, name);
    // Of these the compiler knows a part.
    bool has_more = module != "sardonyx" ? is_library_module(module) : !is_missing;
    std::string message =
        has_more
            ? fmt::format("the compiler does not know `{}.{}`", module, name)
            : fmt::format(
                  "{} `{}` has no member `{}`{}{}",
                  kind_name(object).substr(object.is_none() ? 0 : kind_name(object).find(' ') + 1),
                  repr(object), name, reason.empty() ? "" : ": ", reason);
    diagnostics::Diagnostic& reported =
        c.report(kUnknownAttributeOfObject, range, std::move(message));
    if (!near.empty()) {
        reported.with_help(fmt::format("did you mean `{}`?", near));
        offer_name(c, reported, range, name, near);
    } else if (std::string help = ops::help_for_function(name); !help.empty()) {
        reported.with_help(std::move(help));
    }
    return is_missing ? raises(c, "AttributeError") : Object::error();
}

Object rank_of(Context& c, ir::Value* value, Range range) {
    if (value->type.has_shape()) {
        return Object::integer(static_cast<int64_t>(value->type.shape().size()));
    }
    Emitter e(c, range);
    ir::Value* rank = e.emit("Size", {e.emit("Shape", {value})});
    return rank != nullptr ? Object::number(rank) : Object::error();
}

Object size_of(Context& c, ir::Value* value, Range range) {
    int64_t size = 1;
    bool known = value->type.has_shape();
    for (size_t i = 0; known && i < value->type.shape().size(); ++i) {
        const Dim& dim = value->type.shape()[i];
        known = dim.is_static() && !__builtin_mul_overflow(size, dim.value(), &size);
    }
    if (known) {
        return Object::integer(size);
    }
    ir::Value* count = Emitter(c, range).emit("Size", {value});
    return count != nullptr ? Object::number(count) : Object::error();
}

Object dtype_of(Context& c, ir::Value* value, Range range) {
    ElementType type = value->type.element_type();
    if (type != ElementType::kUndefined) {
        return Object::element_type(type);
    }
    c.report(kStaticRequired, range, "the element type of this tensor is not known")
        .with_help("annotate the parameter, as in `x: FLOAT[...]`, or use `op.CastLike`");
    return Object::error();
}

// The type as an annotation would say it.
Object type_of(Context& c, ir::Value* value, Range range) {
    if (value->type.is_tensor() && value->type.element_type() != ElementType::kUndefined) {
        return Object::make(ObjectKind::kType, TypeObject{value->type, true});
    }
    return dtype_of(c, value, range).is_error() ? Object::error() : Object::none();
}

Object transposed(Context& c, ir::Value* value, Range range) {
    return as_object(Emitter(c, range).emit("Transpose", {value}));
}

Object matrix_transposed(Context& c, ir::Value* value, Range range) {
    Emitter e(c, range);
    return as_object(lowering::lower_matrix_transpose(e, value));
}

struct TensorMember {
    std::string_view name;
    Object (*get)(Context&, ir::Value*, Range);
};

constexpr TensorMember kTensorMembers[] = {
    {"shape", shape_of}, {"rank", rank_of}, {"ndim", rank_of}, {"size", size_of},
    {"dtype", dtype_of}, {"type", type_of}, {"T", transposed}, {"mT", matrix_transposed}};

constexpr std::string_view kTensorMethods[] = {"astype"};

Object tensor_member(Context& c, const Object& object, std::string_view name, Range range,
                     Range name_range) {
    for (const TensorMember& member : kTensorMembers) {
        if (member.name == name) {
            return member.get(c, object.value(), range);
        }
    }
    if (std::find(std::begin(kTensorMethods), std::end(kTensorMethods), name) !=
        std::end(kTensorMethods)) {
        return Object::make(ObjectKind::kMethod, MethodObject{object, std::string(name)});
    }
    std::string_view instead = lowering::instead_of_method(name);
    if (!instead.empty()) {
        c.report(kUnknownAttributeOfObject, name_range,
                 fmt::format("a tensor has no method `{}`", name))
            .with_help(fmt::format("write `{}`", instead));
        return Object::error();
    }
    std::vector<std::string_view> known(std::begin(kTensorMethods), std::end(kTensorMethods));
    for (const TensorMember& member : kTensorMembers) {
        known.push_back(member.name);
    }
    std::string_view near = nearest(name, known);
    diagnostics::Diagnostic& reported = c.report(kUnknownAttributeOfObject, name_range,
                                                 fmt::format("a tensor has no member `{}`", name));
    std::string help = ops::help_for_function(name);
    std::string_view text = c.source({range.begin, name_range.begin});
    std::string hidden = help_for_hidden(c, text.substr(0, text.find('.')));
    if (!hidden.empty()) {
        reported.with_help(hidden);
    } else if (!help.empty()) {
        reported.with_help(std::move(help));
    } else if (near.empty()) {
        reported.with_help(fmt::format("a tensor has `{}`; everything else is an operator",
                                       fmt::join(known, "`, `")));
    } else {
        reported.with_help(fmt::format("did you mean `{}`?", near));
        offer_name(c, reported, name_range, name, near);
    }
    return Object::error();
}

// A member that an array has, whichever it holds; nothing: it has none of this name.
std::optional<Object> known_member(Context& c, const Object& array, std::string_view name) {
    const Tensor& tensor = array.get<Tensor>();
    if (name == "shape") {
        std::vector<Object> dims;
        for (int64_t dim : tensor.dims()) {
            dims.push_back(Object::integer(dim));
        }
        return Object::tuple(std::move(dims));
    }
    if (name == "ndim") {
        return Object::integer(tensor.rank());
    }
    if (name == "size") {
        return Object::integer(tensor.count());
    }
    if (name == "dtype") {
        return Object::element_type(tensor.element_type(), TypeForm::kNumpyDtype);
    }
    return array_member(c, array, name);
}

Object constant_member(Context& c, const Object& object, std::string_view name, Range name_range) {
    std::optional<Object> known = known_member(c, object, name);
    return known ? *known : no_member(c, object, name, name_range, {});
}

// A member of a number that NumPy shows, which is an array as well.
std::optional<Object> numpys_member(Context& c, const Object& number, std::string_view name) {
    Object array = as_array_scalar(number);
    return array.is(ObjectKind::kConstant) ? known_member(c, array, name) : std::nullopt;
}

Object type_member(Context& c, const Object& object, std::string_view name, Range name_range) {
    const TypeObject& type = object.get<TypeObject>();
    if (name == "dtype") {
        return Object::element_type(type.type.element_type());
    }
    if (name == "shape" && type.type.has_shape()) {
        std::vector<Object> dims;
        for (const Dim& dim : type.type.shape()) {
            dims.push_back(dim.is_static()    ? Object::integer(dim.value())
                           : dim.is_unknown() ? Object::none()
                                              : Object::string(dim.to_string()));
        }
        return Object::tuple(std::move(dims));
    }
    constexpr std::string_view kMembers[] = {"dtype", "shape"};
    return no_member(c, object, name, name_range, kMembers);
}

// An operator that is not called at once.
Object opset_member(Context& c, const Object& object, std::string_view name, Range name_range) {
    const OpsetObject& opset = object.get<OpsetObject>();
    if (name == "domain") {
        return Object::string(opset.domain);
    }
    if (name == "version") {
        return Object::integer(compiled_opset(c, opset).version);
    }
    OpsetObject compiled = compiled_opset(c, opset);
    if (has_operator(c, compiled, name) == false && !is_for_onnxscript(c)) {
        Arguments place;
        place.callee_range = name_range;
        bool is_known = true;
        find_operator(c, compiled, name, place, is_known);
        // What all classes have is not known here.
        return name[0] != '_' ? raises(c, "AttributeError") : Object::error();
    }
    return Object::make(ObjectKind::kOperator, OperatorObject{opset, std::string(name)});
}

Object module_member(Context& c, const Object& object, std::string_view name, Range range,
                     Range name_range) {
    const ModuleObject& module = object.get<ModuleObject>();
    std::optional<Object> found = module.environment != nullptr
                                      ? module.environment->lookup(name)
                                      : library_attribute(module.name, name);
    if (found && unknown_cause(c.program, *found) != nullptr) {
        report_unknown(c, *found, fmt::format("{}.{}", module.name, name), range);
        return Object::error();
    }
    Namespace* of_file = as_namespace(object);
    if (of_file != nullptr && of_file->kind == Namespace::Kind::kNamedTuple && !found) {
        found = named_class_member(c, *of_file, name, range);
        if (found || !of_file->outside.is_error()) {
            return found ? *found : member(c, of_file->outside, name, range, name_range);
        }
    }
    bool is_made_here = of_file != nullptr && of_file->is_of_script && of_file->has_own(name);
    if (!found && of_file != nullptr && name == "__name__" && class_of(object) == nullptr) {
        return Object::string(of_file->name);
    }
    if (found && !c.runs_file && !is_made_here) {
        note_foreign(c, *found);
    }
    if (found) {
        return of_file != nullptr ? bound_member(c, *of_file, name, *found, range) : *found;
    }
    // Where a file runs, what changes the dict would change the members.
    if (of_file != nullptr && name == "__dict__" && !c.runs_file &&
        exception_of(object).builtin.empty()) {
        if (std::optional<Object> members = shown_members(c, *of_file)) {
            return *members;
        }
    }
    std::vector<std::string> own;
    std::vector<std::string_view> known;
    if (module.environment != nullptr) {
        own = module.environment->names();
        known.assign(own.begin(), own.end());
    } else {
        known = library_module_names(module.name);
    }
    Object failed = no_member(c, object, name, name_range, known);
    // What all classes have is not known here, nor all that instances of NumPy's have.
    bool is_complete = of_file != nullptr && of_file->exception.empty() &&
                       exception_of(object).builtin.empty() &&
                       (of_file->kind != Namespace::Kind::kInstance || class_of(object) != nullptr);
    return is_complete && name[0] != '_' && name != "mro" ? raises(c, "AttributeError") : failed;
}

constexpr std::string_view kListMethods[] = {"append", "extend", "insert",  "pop",
                                             "remove", "clear",  "reverse", "sort",
                                             "index",  "count",  "copy"};
bool is_list_method(std::string_view name) {
    return std::find(std::begin(kListMethods), std::end(kListMethods), name) !=
           std::end(kListMethods);
}

// A method of a list that a loop or branch of the graph has made.
Object graph_list_method(Context& c, std::string_view name, Range name_range) {
    c.report(kUnknownAttributeOfObject, name_range,
             fmt::format("`{}` of a list whose length is known only when the graph runs", name))
        .with_help(
            name == "pop" || name == "remove"
                ? "take a slice or `op.SequenceErase(xs, i)` for the others, and `xs[i]` for "
                  "the item"
            : name == "insert" ? "write `xs = op.SequenceInsert(xs, x, i)`"
            : name == "append" || name == "extend"
                ? "write it as a statement of its own, or `xs = xs + [x]`"
                : "make it of items that are known, or compute with a tensor");
    return Object::error();
}

constexpr std::string_view kTupleMethods[] = {"index", "count"};
constexpr std::string_view kDictMethods[] = {"get", "keys",   "values",  "items", "copy",
                                             "pop", "update", "popitem", "clear", "setdefault"};

// Methods that a class of dicts has beside those of dict.
bool is_method_of_class(DictClass of, std::string_view name) {
    return of == DictClass::kOrdered
               ? name == "move_to_end"
               : of == DictClass::kCounter &&
                     (name == "most_common" || name == "total" || name == "subtract");
}

constexpr std::string_view kSetMethods[] = {"add",
                                            "clear",
                                            "copy",
                                            "difference",
                                            "difference_update",
                                            "discard",
                                            "intersection",
                                            "intersection_update",
                                            "isdisjoint",
                                            "issubset",
                                            "issuperset",
                                            "pop",
                                            "remove",
                                            "symmetric_difference",
                                            "symmetric_difference_update",
                                            "union",
                                            "update"};
constexpr std::string_view kFrozenSetMethods[] = {
    "copy",     "difference", "intersection", "isdisjoint",
    "issubset", "issuperset", "union",        "symmetric_difference"};
constexpr std::string_view kStringMethods[] = {
    "upper",      "lower",    "capitalize", "title",   "strip",        "lstrip",
    "rstrip",     "find",     "replace",    "split",   "removeprefix", "startswith",
    "endswith",   "join",     "rfind",      "index",   "rindex",       "removesuffix",
    "partition",  "zfill",    "count",      "format",  "isdigit",      "rpartition",
    "isalpha",    "isalnum",  "ljust",      "rjust",   "center",       "rsplit",
    "splitlines", "swapcase", "casefold",   "isupper", "islower",      "isspace"};
bool is_string_method(std::string_view name) {
    return std::find(std::begin(kStringMethods), std::end(kStringMethods), name) !=
           std::end(kStringMethods);
}
// int.is_integer is newer than the oldest Python that is supported.
constexpr std::string_view kIntMethods[] = {"bit_length", "bit_count"};
constexpr std::string_view kFloatMethods[] = {"is_integer"};

Object method_of(Context& c, const Object& object, std::string_view name, Range name_range,
                 std::span<const std::string_view> methods) {
    if (std::find(methods.begin(), methods.end(), name) == methods.end()) {
        return no_member(c, object, name, name_range, methods);
    }
    return Object::make(ObjectKind::kMethod, MethodObject{object, std::string(name)});
}

Object member_of_named(Context& c, const Object& object, std::string_view name, Range range,
                       Range name_range) {
    if (name == "index" || name == "count") {
        return method_of(c, object, name, name_range, kTupleMethods);
    }
    if (std::optional<Object> found = named_member(c, object, name, range)) {
        return *found;
    }
    std::vector<std::string> own = object.tuple_class()->names();
    std::vector<std::string_view> known(own.begin(), own.end());
    known.insert(known.end(), object.tuple_class()->fields.begin(),
                 object.tuple_class()->fields.end());
    Object failed = no_member(c, object, name, name_range, known);
    return name[0] != '_' ? raises(c, "AttributeError") : failed;
}

Object member_outside(Context& c, const Object& object, std::string_view name, Range name_range) {
    Environment::Answer answer = c.function().environment->attribute(object, name);
    if (!answer.value) {
        return no_member(c, object, name, name_range, {}, answer.error);
    }
    note_foreign(c, *answer.value);
    return *answer.value;
}

// A part that Python gives of an int.
std::optional<Object> part_of_int(const Object& number, std::string_view name) {
    if (number.shown_as() == ShownAs::kNumpy) {
        return std::nullopt;
    }
    if (name == "real" || name == "numerator") {
        return Object::integer(number.as_int());
    }
    return name == "imag"          ? std::optional(Object::integer(0))
           : name == "denominator" ? std::optional(Object::integer(1))
                                   : std::nullopt;
}

// Of an int, or of the member of an enumeration that it is as well.
Object member_of_int(Context& c, const Object& number, std::string_view name, Range range,
                     Range name_range) {
    Namespace* own = as_member(number);
    if (number.member() != nullptr && own == nullptr) {
        return member_outside(c, number, name, name_range);
    }
    if (std::optional<Object> found =
            own == nullptr ? numpys_member(c, number, name) : std::nullopt) {
        return *found;
    }
    std::optional<Object> part = part_of_int(number, name);
    bool is_of_int = part || std::find(std::begin(kIntMethods), std::end(kIntMethods), name) !=
                                 std::end(kIntMethods);
    if (own != nullptr && (!is_of_int || own->lookup(name))) {
        return module_member(c, own->object(), name, range, name_range);
    }
    return part ? *part : method_of(c, number, name, name_range, kIntMethods);
}

// Of a string, or of the member of an enumeration that it is as well.
Object member_of_text(Context& c, const Object& text, std::string_view name, Range range,
                      Range name_range) {
    if (text.member() == nullptr || (is_string_method(name) && !text.member()->redefines(name))) {
        return method_of(c, text, name, name_range, kStringMethods);
    }
    Namespace* own = as_member(text);
    return own != nullptr ? module_member(c, own->object(), name, range, name_range)
                          : member_outside(c, text, name, name_range);
}

}  // namespace

std::optional<std::string> name_of_function(const Object& function) {
    if (function.is(ObjectKind::kScript)) {
        const ScriptFunction& script = function.get<ScriptFunction>();
        return std::string(script.tree->names.text(script.definition->name));
    }
    if (!function.is(ObjectKind::kClosure) ||
        function.get<Closure>().name == kUnknownFunctionName) {
        return std::nullopt;
    }
    const Closure& closure = function.get<Closure>();
    if (!closure.name.empty() || closure.definition == nullptr) {
        return closure.name.empty() ? "<lambda>" : closure.name;
    }
    return std::string(closure.scope->function->tree->names.text(closure.definition->name));
}

Object member(Context& c, const Object& object, std::string_view name, Range range,
              Range name_range) {
    if (std::optional<Object> type = name == "__class__" ? known_type(object) : std::nullopt) {
        return *type;
    }
    switch (object.kind()) {
        case ObjectKind::kError:
            return object;
        case ObjectKind::kNumbers:
            return is_list_method(name) ? graph_list_method(c, name, name_range)
                                        : no_member(c, object, name, name_range, {});
        case ObjectKind::kTensor:
            if (is_sequence_value(object) && is_list_method(name)) {
                return graph_list_method(c, name, name_range);
            }
            return object.is_shape_tensor() ? method_of(c, object, name, name_range, kTupleMethods)
                                            : tensor_member(c, object, name, range, name_range);
        case ObjectKind::kAttribute: {
            ir::Value* value = as_value(c, object, range);
            return value != nullptr
                       ? tensor_member(c, Object::tensor(value), name, range, name_range)
                       : Object::error();
        }
        case ObjectKind::kConstant:
            return constant_member(c, object, name, name_range);
        case ObjectKind::kElementType: {
            std::optional<Object> found = element_type_member(object, name);
            return found ? *found : no_member(c, object, name, name_range, kElementTypeMembers);
        }
        case ObjectKind::kType:
            return type_member(c, object, name, name_range);
        case ObjectKind::kOpset:
            return opset_member(c, object, name, name_range);
        case ObjectKind::kModule:
            return module_member(c, object, name, range, name_range);
        case ObjectKind::kMethod:
            if (std::optional<Object> found =
                    super_member(c, object.get<MethodObject>(), name, range)) {
                return *found;
            }
            if (name == "setter" && object.get<MethodObject>().name == kProperty) {
                return bind_arguments(
                    Object::make(ObjectKind::kBuiltin, library_builtin(kProperty)),
                    {getter_of(object.get<MethodObject>())}, {});
            }
            return no_member(c, object, name, name_range, {});
        case ObjectKind::kList:
            return method_of(c, object, name, name_range, kListMethods);
        case ObjectKind::kTuple:
            return object.tuple_class() != nullptr
                       ? member_of_named(c, object, name, range, name_range)
                       : method_of(c, object, name, name_range, kTupleMethods);
        case ObjectKind::kDict:
            if (name == "default_factory" && object.get<DictObject>().of == DictClass::kDefault) {
                return object.get<DictObject>().factory;
            }
            if (name == "fromkeys" && object.get<DictObject>().of == DictClass::kDict) {
                return Object::make(ObjectKind::kBuiltin, library_builtin("dict.fromkeys"));
            }
            return is_method_of_class(object.get<DictObject>().of, name)
                       ? Object::make(ObjectKind::kMethod, MethodObject{object, std::string(name)})
                       : method_of(c, object, name, name_range, kDictMethods);
        case ObjectKind::kString:
            return member_of_text(c, object, name, range, name_range);
        case ObjectKind::kSet:
            return object.is_frozen() ? method_of(c, object, name, name_range, kFrozenSetMethods)
                                      : method_of(c, object, name, name_range, kSetMethods);
        case ObjectKind::kFloat:
            if (std::optional<Object> found = numpys_member(c, object, name)) {
                return *found;
            }
            return method_of(c, object, name, name_range, kFloatMethods);
        case ObjectKind::kPythonType: {
            // onnx.TensorProto is a type in annotations and the home of the element type numbers.
            ElementType type = element_type_from_name(name);
            if (object.get<PythonType>().name == "TensorProto" && type != ElementType::kUndefined) {
                return Object::integer(static_cast<int64_t>(type));
            }
            if (name == "fromkeys" && object.get<PythonType>().name == "dict") {
                return Object::make(ObjectKind::kBuiltin, library_builtin("dict.fromkeys"));
            }
            if (object.get<PythonType>().name == "str" && is_string_method(name)) {
                return bind_arguments(
                    Object::make(ObjectKind::kBuiltin, library_builtin("str.method")),
                    {Object::string(std::string(name))}, {});
            }
            if (name == "__name__" && library_name(object.get<PythonType>().name)) {
                return Object::string(object.get<PythonType>().name);
            }
            return no_member(c, object, name, name_range, {});
        }
        case ObjectKind::kBuiltin:
            if (is_builtin(object, "itertools.chain") && name == "from_iterable") {
                return Object::make(ObjectKind::kBuiltin,
                                    library_builtin("itertools.chain.from_iterable"));
            }
            if (is_builtin(object, "super")) {
                c.report(kUnknownAttributeOfObject, name_range,
                         fmt::format("`super` itself has no member `{}`", name))
                    .with_help(fmt::format("call it: `super().{}`", name));
                return Object::error();
            }
            return no_member(c, object, name, name_range, {});
        case ObjectKind::kInt:
            return member_of_int(c, object, name, range, name_range);
        case ObjectKind::kOpaque:
            return member_outside(c, object, name, name_range);
        case ObjectKind::kClosure:
        case ObjectKind::kScript:
            if (std::optional<std::string> text = name_of_function(object);
                text && name == "__name__") {
                return Object::string(std::move(*text));
            }
            return no_member(c, object, name, name_range, {});
        default:
            return no_member(c, object, name, name_range, {});
    }
}

}  // namespace sardonyx::elaborate
