#include "elaborate/emit/values.h"

#include <fmt/format.h>

#include <algorithm>

#include "elaborate/emit/as_value.h"
#include "elaborate/emit/constants.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/unknowns.h"
#include "ir/standard.h"
#include "lowering/operators.h"
#include "ops/ops.h"
#include "types/known_sizes.h"

namespace sardonyx::elaborate {

using syntax::Range;

bool is_leaf(const Object& object) {
    return object.is_tensor() || object.is_number() || object.is(ObjectKind::kConstant) ||
           object.is(ObjectKind::kAttribute) || object.is(ObjectKind::kString) ||
           (object.is_sequence() && object.is_static() && !object.items().empty() &&
            object.items()[0].is_number());
}

bool is_python_number(const Object& object) {
    if (object.is(ObjectKind::kAttribute)) {
        ir::AttributeType type = object.get<AttributeObject>().type;
        return type == ir::AttributeType::kInt || type == ir::AttributeType::kFloat;
    }
    return object.is_number() || object.is_number_tensor();
}

bool is_numpys_float(const Object& object) {
    if (!object.is_array_part()) {
        return false;
    }
    const Type& type = object.value()->type;
    return type.is_tensor() && type.element_type() == ElementType::kDouble && type.has_shape() &&
           type.shape().empty();
}

bool is_numpys_int(const Object& object) {
    return object.is(ObjectKind::kInt) && object.shown_as() == ShownAs::kNumpy;
}

bool differs_beside_tensors(const Object& object) {
    return is_numpys_float(object) || is_numpys_int(object);
}

Object beside_tensors(const Object& object) {
    return is_numpys_float(object) ? Object::number(object.value())
           : is_numpys_int(object) ? as_array_scalar(object)
                                   : object;
}

bool float_meets_tensor(const Object& a, const Object& b) {
    auto is_of_run = [](const Object& one) {
        return one.is_graph_value() && !one.is_array_part() && !is_python_number(one);
    };
    return (is_numpys_float(a) && is_of_run(b)) || (is_numpys_float(b) && is_of_run(a));
}

namespace {

// kUndefined: not known, or as its values imply.
ElementType leaf_type(const Object& object) {
    switch (object.kind()) {
        case ObjectKind::kTensor:
            return object.value()->type.element_type();
        case ObjectKind::kConstant:
            return object.get<Tensor>().element_type();
        case ObjectKind::kBool:
            return ElementType::kBool;
        case ObjectKind::kInt:
        case ObjectKind::kWideInt:
            return ElementType::kInt64;
        case ObjectKind::kFloat:
            return ElementType::kDouble;
        case ObjectKind::kAttribute:
            return object.get<AttributeObject>().is_bool ? ElementType::kBool
                   : object.get<AttributeObject>().type == ir::AttributeType::kInt
                       ? ElementType::kInt64
                       : ElementType::kFloat;
        default:
            return ElementType::kUndefined;
    }
}

// Whether the element type can take the number, as far as its type says.
bool can_bend(const Object& number, ElementType type) {
    return !number.is_number_tensor() || !is_floating(leaf_type(number)) || is_floating(type) ||
           type == ElementType::kUndefined;
}

// The type in which Python computes with two numbers. An int of a UINT64 tensor stays one beside
// what is certainly not negative.
ElementType number_type(const Object& a, const Object& b) {
    ElementType left = number_type(a), right = number_type(b);
    if (left == right || left == ElementType::kUndefined || right == ElementType::kUndefined) {
        return left == right ? left : ElementType::kUndefined;
    }
    if (left == ElementType::kDouble || right == ElementType::kDouble) {
        return ElementType::kDouble;
    }
    const Object& other = left == ElementType::kUint64 ? b : a;
    bool is_unsigned = left == ElementType::kUint64 || right == ElementType::kUint64;
    return is_unsigned && other.is_integer() && other.as_int() >= 0 ? ElementType::kUint64
                                                                    : ElementType::kInt64;
}

}  // namespace

ElementType number_type(const Object& object) {
    ElementType type = leaf_type(object);
    return is_floating(type)                                   ? ElementType::kDouble
           : type == ElementType::kUint64 || !is_integer(type) ? type
                                                               : ElementType::kInt64;
}

namespace {

// What a Python number is alone, as a tensor.
ElementType type_alone(const Object& number) {
    ElementType type = number_type(number);
    return type == ElementType::kDouble   ? ElementType::kFloat
           : type == ElementType::kUint64 ? ElementType::kInt64
                                          : type;
}

}  // namespace

bool is_either_of(const Object& a, const Object& b) {
    if (a.is_either() || b.is_either()) {
        return true;
    }
    auto type_of = [](const Object& object) {
        bool is_tensor = object.is_tensor() || object.is(ObjectKind::kConstant);
        return is_python_number(object) ? type_alone(object)
               : is_tensor              ? leaf_type(object)
                                        : ElementType::kUndefined;
    };
    ElementType left = type_of(a), right = type_of(b);
    return (is_python_number(a) || is_python_number(b)) && left != right &&
           left != ElementType::kUndefined && right != ElementType::kUndefined;
}

bool gives_either(const Object& a, const Object& b) {
    auto settles = [](const Object& open, const Object& other) {
        bool is_float = is_python_number(other) && number_type(other) == ElementType::kDouble;
        bool takes_float = is_python_number(open) || leaf_type(open) == ElementType::kFloat;
        return !other.is_either() && (!is_python_number(other) || (is_float && takes_float));
    };
    // An int or a bool becomes an int.
    auto is_open = [](const Object& object) {
        return object.is_either() &&
               (!is_python_number(object) || number_type(object) == ElementType::kDouble);
    };
    return (is_open(a) && !settles(a, b)) || (is_open(b) && !settles(b, a));
}

bool refuse_rounding(Context& c, const Object& number, std::optional<ElementType> type,
                     Range range) {
    if (type != ElementType::kDouble || !number.is_whole() ||
        static_cast<Int128>(number.as_double()) == number.as_whole()) {
        return false;
    }
    c.report(kUnsupportedOperand, range,
             fmt::format("{} is a float in other cases, and DOUBLE does not hold it exactly",
                         repr(number)))
        .with_help(fmt::format("write `float({})`, or an int in all cases", repr(number)));
    return true;
}

std::optional<ElementType> common_type(const Object& a, const Object& b) {
    if (is_python_number(a) && is_python_number(b)) {
        return number_type(a, b);
    }
    ElementType left = leaf_type(a), right = leaf_type(b);
    bool a_bends = !a.is_tensor_like() || is_python_number(a);
    bool b_bends = !b.is_tensor_like() || is_python_number(b);
    if (a_bends || b_bends) {
        const Object& bent = a_bends ? a : b;
        ElementType type = a_bends ? right : left;
        return can_bend(bent, type) ? std::optional(type) : std::nullopt;
    }
    bool differ =
        left != right && left != ElementType::kUndefined && right != ElementType::kUndefined;
    return differ ? std::nullopt : std::optional<ElementType>(left);
}

ir::Value* as_typed_value(Context& c, const Object& object, ElementType type, Range range) {
    return object.is_tensor() && !object.is_number_tensor() ? object.value()
                                                            : as_value(c, object, range, type);
}

namespace {

// Whether an int of the run is certainly one that the type holds: it has been one, or is one of
// several that are known.
bool certainly_fits(const ir::Value* number, ElementType type, int depth = 0) {
    constexpr int kDeepest = 16;
    if (number->constant) {
        std::optional<std::vector<int64_t>> known = to_int64s(*number->constant);
        return known && tensor_from_int64s(type, number->constant->dims(), *known).ok();
    }
    const ir::Node* maker = number->producer();
    if (maker == nullptr || depth > kDeepest) {
        return false;
    }
    if (ir::is_standard(maker, "Cast")) {
        ElementType from = maker->input(0)->type.element_type();
        return from == type || from == ElementType::kBool ||
               certainly_fits(maker->input(0), type, depth + 1);
    }
    bool is_if = ir::is_standard(maker, "If"), all = is_if;
    for (std::string_view name : {"then_branch", "else_branch"}) {
        const ir::Attribute* branch = is_if ? maker->find_attribute(name) : nullptr;
        all = all && branch != nullptr &&
              certainly_fits((*branch->get<ir::Graph*>())->outputs[number->output_index()], type,
                             depth + 1);
    }
    return all;
}

}  // namespace

bool refuse_overflow(Context& c, const ir::Value* number, ElementType type, Range range) {
    if (!is_integer(type) || info(type).bits > 8 || !is_integer(number->type.element_type()) ||
        certainly_fits(number, type)) {
        return false;
    }
    c.report(kUnsupportedOperand, range,
             fmt::format("an int that is known only when the graph runs, and may not fit in {}",
                         name(type)))
        .with_help(
            fmt::format("cast it or the tensor, as in `op.Cast(n, to={}.dtype)`", name(type)));
    return true;
}

ir::Value* number_beside(Context& c, ir::Value* number, ir::Value* other, Range range) {
    ElementType from = number->type.element_type(), to = other->type.element_type();
    if (refuse_overflow(c, number, to, range)) {
        return nullptr;
    }
    if (to == ElementType::kUndefined) {
        return cast_like(c, number, other, range);
    }
    if (!is_floating(to) && (is_floating(from) || !is_integer(to))) {
        return number;
    }
    Emitter e(c, range);
    return lowering::cast(e, number, to);
}

ir::Value* logical_not(Context& c, ir::Value* value, Range range) {
    if (ir::is_standard(value->producer(), "Not")) {
        return value->producer()->input(0);
    }
    return Emitter(c, range).emit("Not", {value});
}

namespace {

bool is_visible(const ir::Value* value, const ir::Graph* graph) {
    for (; graph != nullptr; graph = graph->parent()) {
        if (value->graph() == graph) {
            return true;
        }
    }
    return false;
}

// The input of a node that the schema gives the element type of the output.
ir::Value* input_of_same_type(const Context& c, const ir::Node& node, uint32_t output) {
    const ops::Schema* schema = ops::find_schema(node.domain, node.op_type,
                                                 ir::opset_version(c.unit->imports, node.domain));
    const ops::Parameter* wanted = schema != nullptr ? schema->output(output) : nullptr;
    for (size_t i = 0; wanted != nullptr && i < node.input_count(); ++i) {
        const ops::Parameter* parameter = schema->input(i);
        if (parameter != nullptr && parameter->type_variable == wanted->type_variable &&
            node.input(i) != nullptr) {
            return node.input(i);
        }
    }
    return nullptr;
}

// A value that `graph` sees and that has the element type of `value`, whatever it is.
ir::Value* type_source(const Context& c, ir::Value* value, const ir::Graph* graph) {
    constexpr int kMost = 1000;
    for (int i = 0; i < kMost && value != nullptr && !is_visible(value, graph); ++i) {
        ir::Node* node = value->producer();
        if (node == nullptr) {
            auto found = std::find_if(c.loop_inputs.begin(), c.loop_inputs.end(),
                                      [value](const std::pair<ir::Value*, ir::Value*>& one) {
                                          return one.first == value;
                                      });
            value = found != c.loop_inputs.end() ? found->second : nullptr;
            continue;
        }
        const ir::Attribute* inner =
            node->find_attribute(ir::is_standard(node, "If") ? std::string_view("then_branch")
                                                             : std::string_view("body"));
        if (inner == nullptr || inner->get<ir::Graph*>() == nullptr) {
            value = input_of_same_type(c, *node, value->output_index());
            continue;
        }
        const std::vector<ir::Value*>& outputs = (*inner->get<ir::Graph*>())->outputs;
        size_t index = value->output_index() + (ir::is_standard(node, "Loop") ? 1U : 0U);
        value = index < outputs.size() ? outputs[index] : nullptr;
    }
    return value;
}

// Zeros in the current graph. Null: the type does not say enough.
ir::Value* zeros(Context& c, ir::Value* like, Range range) {
    const Type& type = like->type;
    Emitter e(c, range);
    if (type.kind() == TypeKind::kSequence) {
        ElementType element = type.element().element_type();
        return element == ElementType::kUndefined
                   ? nullptr
                   : e.emit("SequenceEmpty", {},
                            {ir::make_attribute("dtype", static_cast<int64_t>(element))});
    }
    if (type.is_known() && !type.is_tensor()) {
        return nullptr;
    }
    ElementType element = type.element_type();
    ir::Value* source =
        element == ElementType::kUndefined ? type_source(c, like, c.graph) : nullptr;
    if (element == ElementType::kUndefined && source == nullptr) {
        return nullptr;
    }
    Tensor zero = element == ElementType::kString ? Tensor::of_strings({}, {std::string()})
                                                  : Tensor::scalar<float>(0);
    if (element != ElementType::kString && element != ElementType::kUndefined) {
        Result<Tensor> typed = tensor_from_int64s(element, {}, std::vector<int64_t>{0});
        if (!typed.ok()) {
            return nullptr;
        }
        zero = std::move(*typed);
    }
    ir::Value* value = emit_constant(c, std::move(zero), range);
    if (value != nullptr && source != nullptr) {
        value = e.emit("CastLike", {value, source});
    }
    if (value == nullptr || !type.has_shape() || type.shape().empty()) {
        return value;
    }
    std::vector<int64_t> dims;
    for (const Dim& dim : type.shape()) {
        dims.push_back(dim.is_static() ? dim.value() : 0);
    }
    return e.emit("Expand", {value, e.int64s(std::move(dims))});
}

}  // namespace

std::optional<Object> placeholder(Context& c, ir::Graph* graph, const Object& like, Range range) {
    if (like.is_tensor()) {
        ir::Graph* outer = c.graph;
        c.graph = graph;
        ir::Value* value = zeros(c, like.value(), range);
        c.graph = outer;
        if (value == nullptr) {
            return std::nullopt;
        }
        // A symbol must not stand for both: runtimes share buffers between values of one symbolic
        // shape.
        value->type = with_known_sizes(like.value()->type);
        return like.with_value(value);
    }
    if (like.is_numbers()) {
        Result<Tensor> nothing = tensor_from_int64s(like.value()->type.element_type(), {0}, {});
        ir::Graph* outer = c.graph;
        c.graph = graph;
        ir::Value* value = nothing.ok() ? emit_constant(c, std::move(*nothing), range) : nullptr;
        c.graph = outer;
        return value != nullptr ? std::optional(Object::numbers(value)) : std::nullopt;
    }
    if (like.is_static() || (!like.is_sequence() && !like.is(ObjectKind::kDict))) {
        return like;
    }
    if (like.is(ObjectKind::kDict)) {
        DictObject dict = like.get<DictObject>();
        for (auto& [key, value] : dict.items) {
            std::optional<Object> filler = placeholder(c, graph, Object(value), range);
            if (!filler) {
                return std::nullopt;
            }
            value = std::move(*filler);
        }
        return Object::dict(std::move(dict));
    }
    std::vector<Object> items;
    for (const Object& item : like.items()) {
        std::optional<Object> filler = placeholder(c, graph, item, range);
        if (!filler) {
            return std::nullopt;
        }
        items.push_back(std::move(*filler));
    }
    return like.with_items(std::move(items));
}

}  // namespace sardonyx::elaborate
