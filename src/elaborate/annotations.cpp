// Annotations: FLOAT[2, "N"], Optional[...], Sequence[...], int, List[float], strings of these.

#include <fmt/format.h>

#include <algorithm>

#include "elaborate/eval.h"
#include "elaborate/functions.h"
#include "syntax/parse.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::ExprKind;

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

constexpr std::string_view kLists[] = {"list", "List", "Sequence", "tuple", "Tuple", "Iterable"};

bool is_list(std::string_view name) {
    return std::find(std::begin(kLists), std::end(kLists), name) != std::end(kLists);
}

std::optional<Annotation> from_object(const Object& object);

std::optional<Annotation> from_python_type(const PythonType& type) {
    for (const ScalarAnnotation& scalar : kScalars) {
        if (scalar.name == type.name) {
            return Annotation{true, scalar.type, scalar.is_bool, {}, true};
        }
    }
    if (is_list(type.name) && !type.arguments.empty()) {
        std::optional<Annotation> item = from_object(type.arguments[0]);
        if (!item) {
            return std::nullopt;
        }
        if (!item->is_attribute) {
            return Annotation{false, {}, false, Type::sequence(item->type), true};
        }
        for (const ScalarAnnotation& scalar : kScalars) {
            if (scalar.type == item->attribute_type && scalar.is_bool == item->is_bool) {
                return Annotation{true, scalar.list_type, scalar.is_bool, {}, true};
            }
        }
        return std::nullopt;
    }
    if (type.name == "Annotated" && !type.arguments.empty()) {
        return from_object(type.arguments[0]);
    }
    if (type.name == "Optional" || type.name == "Union") {
        // Of several tensor types, what they share is said by none.
        std::optional<Annotation> only;
        for (const Object& argument : type.arguments) {
            if (argument.is_none()) {
                continue;
            }
            std::optional<Annotation> one = from_object(argument);
            if (!one || (only && (one->is_attribute || only->is_attribute))) {
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
    if (type.name == "TypeVar" || type.name == "Any") {
        return Annotation{};
    }
    return std::nullopt;
}

std::optional<Annotation> from_object(const Object& object) {
    if (object.is(ObjectKind::kType)) {
        const TypeObject& type = object.get<TypeObject>();
        return Annotation{false, {}, false, type.type, type.explicit_shape};
    }
    if (object.is(ObjectKind::kPythonType)) {
        return from_python_type(object.get<PythonType>());
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
    const auto* either = syntax::maybe_as<syntax::BinaryExpr>(expr);
    if (either != nullptr && either->op == syntax::BinaryOp::kBitOr) {
        Object left = eval_annotation(c, either->left);
        Object right = eval_annotation(c, either->right);
        if (left.is_error() || right.is_error()) {
            return Object::error();
        }
        return Object::make(ObjectKind::kPythonType, PythonType{"Union", {left, right}});
    }
    return eval(c, expr);
}

Annotation to_annotation(Context& c, const Object& object, syntax::Range range) {
    if (object.is_error() || object.is_none()) {
        return {};
    }
    if (std::optional<Annotation> found = from_object(object)) {
        return *found;
    }
    c.report(kUnknownAnnotation, range,
             fmt::format("the annotation `{}` says nothing about a tensor or an attribute",
                         c.source(range)))
        .with_help(
            "use a tensor type such as `FLOAT[\"N\"]`, or `int`, `float`, `str`, `bool` or a "
            "list of them for an attribute");
    return {};
}

}  // namespace

Annotation read_annotation(Context& c, const Expr* annotation) {
    if (annotation == nullptr) {
        return {};
    }
    return to_annotation(c, eval_annotation(c, annotation), annotation->range);
}

std::optional<std::vector<Annotation>> read_results(Context& c, const Expr* annotation) {
    if (annotation == nullptr) {
        return std::nullopt;
    }
    Object object = eval_annotation(c, annotation);
    if (object.is_error() || object.is_none()) {
        return std::nullopt;
    }
    std::vector<Object> items{object};
    if (object.is(ObjectKind::kTuple)) {
        items = object.items();
    } else if (object.is(ObjectKind::kPythonType)) {
        const PythonType& type = object.get<PythonType>();
        if ((type.name == "tuple" || type.name == "Tuple") && !type.arguments.empty()) {
            items = type.arguments;
        }
    }
    std::vector<Annotation> results;
    for (const Object& item : items) {
        results.push_back(to_annotation(c, item, annotation->range));
    }
    return results;
}

}  // namespace sardonyx::elaborate
