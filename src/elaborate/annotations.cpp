// Annotations: FLOAT[2, "N"], Optional[...], Sequence[...], int, List[float], strings of these.
#include "elaborate/annotations.h"

#include <fmt/format.h>

#include <algorithm>

#include "elaborate/expressions.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/tolerance.h"
#include "elaborate/objects/type_objects.h"
#include "elaborate/objects/type_text.h"
#include "elaborate/scopes/merge.h"
#include "syntax/parse.h"
#include "types/annotation_dims.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::ExprKind;
using syntax::Range;

namespace {

struct ScalarAnnotation {
    std::string_view name;
    ir::AttributeType type;
    ir::AttributeType list_type;
    bool is_bool;
};

constexpr ScalarAnnotation kScalars[] = {
    {"int", ir::AttributeType::kInt, ir::AttributeType::kInts, false},
    {"float", ir::AttributeType::kFloat, ir::AttributeType::kFloats, false},
    {"str", ir::AttributeType::kString, ir::AttributeType::kStrings, false},
    {"bool", ir::AttributeType::kInt, ir::AttributeType::kInts, true},
    {"ndarray", ir::AttributeType::kTensor, ir::AttributeType::kTensors, false},
    {"TensorProto", ir::AttributeType::kTensor, ir::AttributeType::kTensors, false},
};

// Annotated[FLOAT, "M", "N"]; what else stands there is meant for others.
std::optional<Annotation> from_annotated(std::span<const Object> arguments) {
    std::span<const Object> dims = arguments.subspan(1);
    bool are_dims = !dims.empty() && std::all_of(dims.begin(), dims.end(), [](const Object& one) {
        return one.is(ObjectKind::kString) || one.is(ObjectKind::kInt) || one.is_none() ||
               one.is(ObjectKind::kEllipsis);
    });
    if (are_dims && arguments[0].is(ObjectKind::kType) &&
        !arguments[0].get<TypeObject>().explicit_shape) {
        Result<TypeObject> shaped = with_dims(arguments[0].get<TypeObject>(), dims);
        return shaped.ok() ? std::optional(Annotation{false, {}, false, shaped->type, true})
                           : std::nullopt;
    }
    return annotation_of(arguments[0]);
}

std::optional<Annotation> from_python_type(const PythonType& type) {
    for (const ScalarAnnotation& scalar : kScalars) {
        if (scalar.name == type.name) {
            return Annotation{true, scalar.type, scalar.is_bool, {}, true};
        }
    }
    if (names_list(type.name) && !type.arguments.empty()) {
        std::optional<Annotation> item = annotation_of(type.arguments[0]);
        if (!item) {
            return std::nullopt;
        }
        if (!item->is_attribute) {
            if (!item->explicit_shape) {
                item->type.set_shape(std::nullopt);
            }
            return item->type.is_known()
                       ? Annotation{false, {}, false, Type::sequence(item->type), true}
                       : Annotation{};
        }
        for (const ScalarAnnotation& scalar : kScalars) {
            if (scalar.type == item->attribute_type && scalar.is_bool == item->is_bool) {
                return Annotation{true, scalar.list_type, scalar.is_bool, {}, true};
            }
        }
        return std::nullopt;
    }
    if (type.name == kOptionalType || type.name == kSparseType || names_map(type.name)) {
        std::optional<Type> named = named_type(Object::make(ObjectKind::kPythonType, type));
        return named ? std::optional(Annotation{false, {}, false, *std::move(named), true})
                     : std::nullopt;
    }
    if (type.name == "Annotated" && !type.arguments.empty()) {
        return from_annotated(type.arguments);
    }
    if (type.name == "Optional" || type.name == "Union") {
        // Of several tensor types, what they share is said by none.
        std::optional<Annotation> only;
        for (const Object& argument : type.arguments) {
            if (argument.is_none()) {
                continue;
            }
            std::optional<Annotation> one = annotation_of(argument);
            if (!one) {
                return std::nullopt;
            }
            if (only && one->is_attribute != only->is_attribute) {
                return Annotation{};  // `int | INT64`: the argument says which
            }
            if (only && one->is_attribute) {
                return std::nullopt;
            }
            if (only) {
                one->type = join(only->type, one->type);
                one->explicit_shape = one->explicit_shape && only->explicit_shape;
            }
            only = one;
        }
        return only;
    }
    if (type.name == "TensorType") {
        return Annotation{false, {}, false, Type::tensor(ElementType::kUndefined), true};
    }
    if (type.name == "TypeVar" || type.name == "Any") {
        return Annotation{};
    }
    return std::nullopt;
}

// `A | B` as the Union of both; everything else as eval() has it.
Object eval_annotation(Context& c, const Expr* expr) {
    if (const auto* text = syntax::maybe_as<syntax::StringExpr>(expr)) {
        const Expr* parsed = syntax::parse_annotation(*c.function().tree, text->value, expr->range,
                                                      c.program.diagnostics);
        return parsed->kind == ExprKind::kError || parsed->kind == ExprKind::kString
                   ? Object::error()
                   : eval_annotation(c, parsed);
    }
    std::vector<Object> members;
    const auto* either = syntax::maybe_as<syntax::BinaryExpr>(expr);
    for (; either != nullptr && either->op == syntax::BinaryOp::kBitOr;
         either = syntax::maybe_as<syntax::BinaryExpr>(expr)) {
        members.push_back(eval_annotation(c, either->right));
        expr = either->left;
    }
    if (members.empty()) {
        return eval(c, expr);
    }
    members.push_back(eval_annotation(c, expr));
    bool failed = std::any_of(members.begin(), members.end(),
                              [](const Object& member) { return member.is_error(); });
    std::reverse(members.begin(), members.end());
    return failed ? Object::error()
                  : Object::make(ObjectKind::kPythonType, PythonType{"Union", std::move(members)});
}

}  // namespace

ElementType Annotation::element_type() const {
    const Type* inner = &type;
    while (inner->kind() == TypeKind::kSequence || inner->kind() == TypeKind::kOptional) {
        inner = &inner->element();
    }
    return inner->kind() == TypeKind::kMap ? ElementType::kUndefined : inner->element_type();
}

std::optional<Annotation> annotation_of(const Object& object) {
    if (object.is(ObjectKind::kType)) {
        const TypeObject& type = object.get<TypeObject>();
        return Annotation{false, {}, false, type.type, type.explicit_shape};
    }
    if (object.is(ObjectKind::kPythonType)) {
        return from_python_type(object.get<PythonType>());
    }
    return std::nullopt;
}

Type annotated_type(const Object& annotation) {
    std::optional<Annotation> found = annotation_of(annotation);
    return found && !found->is_attribute ? found->type : Type();
}

namespace {

Annotation to_annotation(Context& c, const Object& object, syntax::Range range) {
    if (object.is_error() || object.is_none()) {
        Annotation nothing;
        nothing.is_mistaken = object.is_error();
        return nothing;
    }
    if (std::optional<Annotation> found = annotation_of(object)) {
        return *found;
    }
    c.report(
         kUnknownAnnotation, range,
         fmt::format("the annotation `{}` is neither a tensor type nor the type of an attribute",
                     c.source(range)))
        .with_help(
            "use a tensor type such as `FLOAT[\"N\"]`, or `int`, `float`, `str`, `bool` or a "
            "list of them for an attribute");
    return {};
}

}  // namespace

namespace {

Result<Shape> dims_of(const Object& object) {
    if (object.is_none() || object.is_error()) {
        return Shape{Dim()};
    }
    if (object.is(ObjectKind::kInt) && object.as_int() >= 0) {
        return Shape{Dim(object.as_int())};
    }
    if (object.is(ObjectKind::kString)) {
        return annotation_dims(object.text());
    }
    if (object.is(ObjectKind::kEllipsis)) {
        return annotation_dims("...");
    }
    return Error{fmt::format("{} cannot be a dimension", object.is_number()
                                                             ? fmt::format("`{}`", repr(object))
                                                             : std::string(kind_name(object)))};
}

}  // namespace

Result<TypeObject> with_dims(const TypeObject& bare, std::span<const Object> dims) {
    TypeObject result{Type::tensor(bare.type.element_type()), true};
    if (dims.size() == 1 && dims[0].is(ObjectKind::kEllipsis)) {
        return result;
    }
    Shape shape;
    for (const Object& one : dims) {
        Result<Shape> some = dims_of(one);
        if (!some.ok()) {
            return some.error();
        }
        shape.insert(shape.end(), some->begin(), some->end());
    }
    result.type.set_shape(std::move(shape));
    return result;
}

std::vector<Object> annotated_results(const Object& annotation, size_t count) {
    if (annotation.is(ObjectKind::kTuple)) {
        return annotation.items();
    }
    if (annotation.is(ObjectKind::kPythonType)) {
        const PythonType& type = annotation.get<PythonType>();
        bool is_tuple = type.name == "tuple" || type.name == "Tuple";
        bool any_length = type.arguments.size() == 2 && type.arguments[1].is(ObjectKind::kEllipsis);
        if (is_tuple && any_length) {
            return std::vector<Object>(count, type.arguments[0]);
        }
        if (is_tuple && !type.arguments.empty()) {
            return type.arguments;
        }
    }
    return {annotation};
}

Annotation read_annotation(Context& c, const Expr* annotation) {
    if (annotation == nullptr) {
        return {};
    }
    return to_annotation(c, eval_annotation(c, annotation), annotation->range);
}

std::optional<std::vector<Annotation>> read_results(Context& c, const Expr* annotation,
                                                    size_t count) {
    if (annotation == nullptr) {
        return std::nullopt;
    }
    Object object = eval_annotation(c, annotation);
    if (object.is_error() || object.is_none()) {
        return std::nullopt;
    }
    std::vector<Annotation> results;
    for (const Object& item : annotated_results(object, count)) {
        results.push_back(to_annotation(c, item, annotation->range));
    }
    return results;
}

// --- Checking ------------------------------------------------------------------------------------

namespace {

// All that both know of one value; a dimension whose name inference has invented takes that of the
// annotation.
Type refined(const Type& found, const Type& annotated) {
    Type both = merge(found, annotated).value_or(found);
    if (!both.is_tensor() || !both.has_shape() || !annotated.has_shape() ||
        annotated.shape().size() != both.shape().size()) {
        return both;
    }
    Shape shape = both.shape();
    for (size_t i = 0; i < shape.size(); ++i) {
        shape[i] = is_written(shape[i]) ? shape[i] : annotated.shape()[i];
    }
    both.set_shape(std::move(shape));
    return both;
}

std::string annotation_dim(const Dim& dim) {
    Dim written = as_written(dim);
    return written.is_unknown()  ? "None"
           : written.is_static() ? written.to_string()
                                 : fmt::format("\"{}\"", written.to_string());
}

// A type as an annotation is written: FLOAT["N", 4].
std::string annotation_text(const Type& type) {
    switch (type.kind()) {
        case TypeKind::kSequence:
            return fmt::format("Sequence[{}]", annotation_text(type.element()));
        case TypeKind::kOptional:
            return fmt::format("{}[{}]", kOptionalType, annotation_text(type.element()));
        case TypeKind::kMap:
            return fmt::format("Mapping[{}, {}]", name(type.element_type()),
                               annotation_text(type.element()));
        case TypeKind::kSparseTensor:
            return fmt::format(
                "{}[{}]", kSparseType,
                annotation_text(Type::tensor(type.element_type(), type.maybe_shape())));
        case TypeKind::kTensor:
            break;
        default:
            return type_text(type);
    }
    std::string text(type.element_type() == ElementType::kUndefined ? "TensorType"
                                                                    : name(type.element_type()));
    if (!type.has_shape()) {
        return text + "[...]";
    }
    for (size_t i = 0; i < type.shape().size(); ++i) {
        text += (i == 0 ? "[" : ", ") + annotation_dim(type.shape()[i]);
    }
    return type.shape().empty() ? text : text + "]";
}

}  // namespace

void check_annotated(Context& c, const diagnostics::Kind& kind, const Annotation& annotation,
                     ir::Value* value, std::string_view what, Range range, Range annotated) {
    Type wanted = annotation.type;
    if (!wanted.is_known()) {
        return;
    }
    if (!annotation.explicit_shape && c.unit->is_function) {
        wanted.set_shape(std::nullopt);
    }
    DimBindings& dims = c.unit->dims;
    dims.bind(wanted, value->type, c.span(annotated));
    std::optional<DimBindings::Conflict> conflict = dims.conflict(wanted, value->type);
    Type meant = dims.substitute(wanted, DimBindings::Unbound::kStay);
    if (!conflict && merge(meant, value->type)) {
        value->type = refined(value->type, wanted);
        return;
    }
    diagnostics::Diagnostic& reported =
        c.report(tolerated(c, kind), range,
                 fmt::format("{} `{}`, and the annotation says `{}`", what, type_text(value->type),
                             type_text(wanted)));
    reported.label(c.span(annotated), "annotated here");
    if (conflict) {
        label_binding(reported, *conflict);
    }
    reported.with_help(fmt::format("annotate it as `{}`, or change what is computed",
                                   annotation_text(value->type)));
}

void label_binding(diagnostics::Diagnostic& reported, const DimBindings::Conflict& conflict) {
    if (conflict.is_outside) {
        reported.note(
            fmt::format("the annotation says `{}`", annotation_of_dim(conflict.annotated)));
        return;
    }
    std::string dim = dim_text(conflict.binding.dim);
    if (!conflict.name.empty()) {
        reported.label(conflict.binding.where,
                       dim == conflict.name ? fmt::format("`{}` is the size of this", dim)
                                            : fmt::format("`{}` is `{}` here", conflict.name, dim));
    }
}

}  // namespace sardonyx::elaborate
