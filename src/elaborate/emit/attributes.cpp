// Objects as attributes of nodes.
#include "elaborate/emit/attributes.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "calls/element_type_attributes.h"
#include "calls/implied_list.h"
#include "elaborate/emit/interpreter.h"
#include "elaborate/emit/static_tensors.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/type_objects.h"
#include "infer/diagnostics.h"
#include "ops/ops.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

// --- Attributes ----------------------------------------------------------------------------------

std::optional<int64_t> as_int_attribute(const Object& object) {
    if (object.is_integer()) {
        return object.as_int();
    }
    if (object.is(ObjectKind::kElementType)) {
        return static_cast<int64_t>(object.as_element_type());
    }
    if (object.is(ObjectKind::kConstant) && object.get<Tensor>().rank() == 0) {
        std::optional<std::vector<int64_t>> values = to_int64s(object.get<Tensor>());
        return values ? std::optional<int64_t>((*values)[0]) : std::nullopt;
    }
    return std::nullopt;
}

std::optional<float> as_float_attribute(const Object& object) {
    if (object.is_number()) {
        return static_cast<float>(object.as_double());
    }
    if (object.is(ObjectKind::kConstant) && object.get<Tensor>().rank() == 0) {
        std::optional<std::vector<double>> values = to_doubles(object.get<Tensor>());
        return values ? std::optional<float>(static_cast<float>((*values)[0])) : std::nullopt;
    }
    return std::nullopt;
}

std::optional<std::string> as_string_attribute(const Object& object) {
    return object.is_text() ? std::optional<std::string>(object.text()) : std::nullopt;
}

// The items of a list attribute; an array of rank 1 is one too.
std::optional<std::vector<Object>> list_items(Context& c, const Object& object) {
    if (object.is(ObjectKind::kConstant) && object.get<Tensor>().rank() == 1) {
        std::vector<Object> items;
        const Tensor& tensor = object.get<Tensor>();
        if (std::optional<std::vector<int64_t>> integers = to_int64s(tensor)) {
            for (int64_t value : *integers) {
                items.push_back(Object::integer(value));
            }
            return items;
        }
        if (std::optional<std::vector<double>> reals = to_doubles(tensor)) {
            for (double value : *reals) {
                items.push_back(Object::real(value));
            }
            return items;
        }
        return std::nullopt;
    }
    if (object.is(ObjectKind::kString) || object.is(ObjectKind::kDict)) {
        return std::nullopt;
    }
    return static_items(c, object);
}

template <typename T, typename Convert>
std::optional<ir::AttributeValue> list_attribute(Context& c, const Object& object,
                                                 Convert convert) {
    std::optional<std::vector<Object>> items = list_items(c, object);
    if (!items) {
        return std::nullopt;
    }
    std::vector<T> values;
    for (const Object& item : *items) {
        std::optional<T> value = convert(item);
        if (!value) {
            return std::nullopt;
        }
        values.push_back(std::move(*value));
    }
    return ir::AttributeValue(std::move(values));
}

template <typename T>
std::optional<ir::AttributeValue> lift(std::optional<T> value) {
    return value ? std::optional<ir::AttributeValue>(ir::AttributeValue(std::move(*value)))
                 : std::nullopt;
}

std::optional<ir::AttributeValue> attribute_value_of(Context& c, ir::AttributeType type,
                                                     const Object& object, Range range) {
    switch (type) {
        case ir::AttributeType::kInt:
            return lift(as_int_attribute(object));
        case ir::AttributeType::kFloat:
            return lift(as_float_attribute(object));
        case ir::AttributeType::kString:
            return lift(as_string_attribute(object));
        case ir::AttributeType::kInts:
            return list_attribute<int64_t>(c, object, as_int_attribute);
        case ir::AttributeType::kFloats:
            return list_attribute<float>(c, object, as_float_attribute);
        case ir::AttributeType::kStrings:
            return list_attribute<std::string>(c, object, as_string_attribute);
        case ir::AttributeType::kTensor:
            if (object.is(ObjectKind::kConstant) || object.is_number() || object.is_sequence() ||
                object.is(ObjectKind::kString)) {
                return lift(static_tensor(c, object, ElementType::kUndefined, range));
            }
            return std::nullopt;
        case ir::AttributeType::kTypeProto:
            return lift(named_type(object));
        case ir::AttributeType::kGraph:
            if (object.is(ObjectKind::kClosure)) {
                ir::Graph* graph = closure_graph(c, object.get<Closure>(), {}, range);
                return graph != nullptr ? std::optional<ir::AttributeValue>(graph) : std::nullopt;
            }
            return std::nullopt;
        default:
            return std::nullopt;
    }
}

calls::ListItem kind_of_item(const Object& item) {
    return as_int_attribute(item)      ? calls::ListItem::kInt
           : as_float_attribute(item)  ? calls::ListItem::kFloat
           : as_string_attribute(item) ? calls::ListItem::kText
                                       : calls::ListItem::kOther;
}

// The attribute type of an object where no schema says it.
ir::AttributeType implied_attribute_type(Context& c, const Object& object) {
    if (as_int_attribute(object)) {
        return ir::AttributeType::kInt;
    }
    if (object.is(ObjectKind::kFloat)) {
        return ir::AttributeType::kFloat;
    }
    if (as_string_attribute(object)) {
        return ir::AttributeType::kString;
    }
    if (object.is(ObjectKind::kClosure)) {
        return ir::AttributeType::kGraph;
    }
    if (named_type(object)) {
        return ir::AttributeType::kTypeProto;
    }
    if (object.is(ObjectKind::kConstant)) {
        return ir::AttributeType::kTensor;
    }
    std::optional<std::vector<Object>> items = list_items(c, object);
    if (!items) {
        return ir::AttributeType::kUndefined;
    }
    // As onnxscript: sources that give an empty list compile.
    return items->empty() ? ir::AttributeType::kInts
                          : calls::implied_list_type(*items, kind_of_item);
}

// A type of tensors without sizes stands for its element type, as in `to=INT64`.
std::optional<Object> as_element_type(const Object& object) {
    if (!object.is(ObjectKind::kType)) {
        return std::nullopt;
    }
    const TypeObject& bare = object.get<TypeObject>();
    return bare.type.is_tensor() && !bare.explicit_shape
               ? std::optional<Object>(Object::element_type(bare.type.element_type()))
               : std::nullopt;
}

std::string_view attribute_words(ir::AttributeType type) {
    switch (type) {
        case ir::AttributeType::kInt:
            return "an int";
        case ir::AttributeType::kFloat:
            return "a float";
        case ir::AttributeType::kString:
            return "a string";
        case ir::AttributeType::kInts:
            return "a list of ints";
        case ir::AttributeType::kFloats:
            return "a list of floats";
        case ir::AttributeType::kStrings:
            return "a list of strings";
        case ir::AttributeType::kTensor:
            return "a tensor";
        case ir::AttributeType::kGraph:
            return "a function decorated with `@graph()`";
        case ir::AttributeType::kTypeProto:
            return "a type, such as `FLOAT[...]`";
        case ir::AttributeType::kUndefined:
            return "a number, a string, a tensor, or a list of one kind of them";
        default:
            return "another type";
    }
}

}  // namespace

std::optional<ir::Attribute> make_attribute(Context& c, std::string_view name,
                                            ir::AttributeType type, const Object& object,
                                            Range range) {
    ir::Attribute attribute;
    attribute.name = c.model.intern(name);
    if (object.is_error()) {
        return std::nullopt;
    }
    if (object.is(ObjectKind::kAttribute)) {
        const AttributeObject& parameter = object.get<AttributeObject>();
        if (type != ir::AttributeType::kUndefined && parameter.type != type) {
            c.report(kAttributeType, range,
                     fmt::format("`{}` takes {}, and the attribute parameter `{}` is {}", name,
                                 attribute_words(type), parameter.name,
                                 attribute_words(parameter.type)))
                .with_help("change the annotation of the parameter");
            return std::nullopt;
        }
        attribute.type = parameter.type;
        attribute.reference = c.model.intern(parameter.name);
        return attribute;
    }
    if (object.is_tensor()) {
        c.report(
             kStaticRequired, range,
             fmt::format("a tensor as the attribute `{}`: its value is known only when the graph "
                         "runs",
                         name))
            .with_help(
                "give a number, or make it an attribute parameter of the script, as in "
                "`axis: int`");
        return std::nullopt;
    }
    if (std::optional<Object> element_type =
            calls::names_element_type(name) ? as_element_type(object) : std::nullopt) {
        return make_attribute(c, name, type, *element_type, range);
    }
    ir::AttributeType wanted =
        type != ir::AttributeType::kUndefined ? type : implied_attribute_type(c, object);
    diagnostics::Checkpoint said(c.program.diagnostics);
    std::optional<ir::AttributeValue> value = attribute_value_of(c, wanted, object, range);
    if (!value) {
        if (!said.has_findings()) {
            c.report(kAttributeType, range,
                     fmt::format("`{}` takes {}, not {}", name, attribute_words(wanted),
                                 object.is_static() && object.is_number()
                                     ? fmt::format("`{}`", repr(object))
                                     : std::string(kind_name(object))))
                .with_help(
                    calls::names_element_type(name) && !object.is_number()
                        ? fmt::format("give an element type: `{}={}.dtype`", name,
                                      object.is(ObjectKind::kType) ? c.source(range) : "INT64")
                        : fmt::format("give {}", attribute_words(wanted)));
        }
        return std::nullopt;
    }
    attribute.type = wanted;
    attribute.value = std::move(*value);
    return attribute;
}

}  // namespace sardonyx::elaborate
