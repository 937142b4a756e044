#include "elaborate/emit/sizes.h"

#include <fmt/format.h>

#include <algorithm>

#include "elaborate/emit/emitter.h"
#include "elaborate/emit/made_before.h"
#include "elaborate/objects/context.h"
#include "ir/standard.h"

namespace sardonyx::elaborate {

using lowering::Binary;
using syntax::CompareOp;
using syntax::Range;

namespace {

constexpr int64_t kShapeOfRange = 15;  // Shape has `start` and `end` from this opset on

std::optional<int64_t> position(const ir::Node& node, std::string_view name) {
    const ir::Attribute* attribute = node.find_attribute(name);
    const int64_t* value = attribute != nullptr ? attribute->get<int64_t>() : nullptr;
    return value != nullptr ? std::optional<int64_t>(*value) : std::nullopt;
}

bool is_whole_shape(const ir::Node& node) {
    return ir::is_standard(&node, "Shape") && node.attributes.empty();
}

ir::Value* whole_shape(Context& c, ir::Value* value, Range range) {
    ir::Value* known = made_before(c.graph, value, is_whole_shape);
    return known != nullptr ? known : Emitter(c, range).emit("Shape", {value});
}

ir::Value* part_of_shape(Context& c, ir::Value* value, int64_t start, int64_t end, Range range) {
    ir::Value* known = made_before(c.graph, value, [start, end](const ir::Node& node) {
        return ir::is_standard(&node, "Shape") && position(node, "start") == start &&
               position(node, "end") == end;
    });
    return known != nullptr ? known
                            : Emitter(c, range).emit("Shape", {value},
                                                     {ir::make_attribute("start", start),
                                                      ir::make_attribute("end", end)});
}

std::optional<int64_t> constant_index(const ir::Value* index) {
    if (index == nullptr || !index->constant || index->constant->rank() != 0) {
        return std::nullopt;
    }
    std::optional<std::vector<int64_t>> values = to_int64s(*index->constant);
    return values ? std::optional<int64_t>((*values)[0]) : std::nullopt;
}

struct Origin {
    ir::Value* tensor = nullptr;
    int64_t axis = 0;
};

// Which axis of which tensor a value is the size of. The tensor's rank is known.
Origin origin_of(const Object& object) {
    const ir::Node* gather = object.is_tensor() ? object.value()->producer() : nullptr;
    if (!ir::is_standard(gather, "Gather") || gather->input(0) == nullptr) {
        return {};
    }
    const ir::Node* shape = gather->input(0)->producer();
    if (shape == nullptr || !is_whole_shape(*shape) || shape->input(0) == nullptr ||
        !shape->input(0)->type.has_shape() || position(*gather, "axis").value_or(0) != 0) {
        return {};
    }
    std::optional<int64_t> axis = constant_index(gather->input(1));
    int64_t rank = static_cast<int64_t>(shape->input(0)->type.shape().size());
    int64_t place = axis && *axis < 0 ? *axis + rank : axis.value_or(-1);
    return place >= 0 && place < rank ? Origin{shape->input(0), place} : Origin{};
}

// Whether the leaf is, or has the value of, the size of this axis.
bool is_size_of(const Object& leaf, const ir::Value* tensor, int64_t axis) {
    const Shape& shape = tensor->type.shape();
    if (axis < 0 || axis >= static_cast<int64_t>(shape.size())) {
        return false;
    }
    if (leaf.is(ObjectKind::kInt)) {
        return shape[static_cast<size_t>(axis)].equals(Dim(leaf.as_int()));
    }
    Origin origin = origin_of(leaf);
    return origin.tensor == tensor && origin.axis == axis;
}

// Unknown for what is no Python int.
Dim dim_of(const Object& object) {
    if (object.is_integer()) {
        return Dim(object.as_int());
    }
    const ir::SymbolicContent* content =
        object.is_number_tensor() ? object.value()->content.get() : nullptr;
    if (content != nullptr && content->is_scalar && !content->elements[0].is_unknown()) {
        return content->elements[0];
    }
    // Of a size nothing may be known but that it is one: then it has a symbol of its own.
    return object.is_number_tensor() && origin_of(object).tensor != nullptr
               ? Dim::symbol(fmt::format("size {}", fmt::ptr(object.value())))
               : Dim();
}

bool are_one_value(const Object& a, const Object& b) {
    return a.is_tensor() && b.is_tensor() && a.value() == b.value();
}

bool is_int(const Object& object, int64_t value) {
    return object.is_integer() && object.as_int() == value;
}

// Whether the size is certainly that of this axis.
bool keeps_axis(const Object& size, const ir::Value* data, size_t axis) {
    return is_size_of(size, data, static_cast<int64_t>(axis)) ||
           (axis < data->type.shape().size() && dim_of(size).equals(data->type.shape()[axis]));
}

}  // namespace

Object shape_of(Context& c, ir::Value* value, Range range) {
    if (!value->type.has_shape()) {
        ir::Value* shape = whole_shape(c, value, range);
        return shape != nullptr ? Object::shape(shape) : Object::error();
    }
    std::vector<Object> sizes;
    for (size_t axis = 0; axis < value->type.shape().size(); ++axis) {
        sizes.push_back(size_of_axis(c, value, static_cast<int64_t>(axis), range));
        if (sizes.back().is_error()) {
            return Object::error();
        }
    }
    return Object::tuple(std::move(sizes));
}

Object size_of_axis(Context& c, ir::Value* value, int64_t axis, Range range) {
    Emitter e(c, range);
    if (e.dim(value, axis) >= 0) {
        return Object::integer(e.dim(value, axis));
    }
    ir::Value* shape = whole_shape(c, value, range);
    if (shape == nullptr) {
        return Object::error();
    }
    ir::Value* size = made_before(c.graph, shape, [axis](const ir::Node& node) {
        return ir::is_standard(&node, "Gather") && constant_index(node.input(1)) == axis;
    });
    if (size == nullptr) {
        size = e.emit("Gather", {shape, e.int64_scalar(axis)},
                      {ir::make_attribute("axis", int64_t{0})});
    }
    return size != nullptr ? Object::number(size) : Object::error();
}

bool is_python_int(const Object& object) {
    return object.is_integer() || (object.is_number_tensor() &&
                                   object.value()->type.element_type() == ElementType::kInt64);
}

bool is_int_sequence(const Object& object) {
    return object.is_sequence() && !object.items().empty() &&
           std::all_of(object.items().begin(), object.items().end(), is_python_int);
}

std::optional<Object> settled_binary(Binary op, const Object& a, const Object& b) {
    Dim x = dim_of(a), y = dim_of(b), result;
    switch (op) {
        case Binary::kAdd:
            result = x + y;
            break;
        case Binary::kSub:
            if (are_one_value(a, b)) {
                return Object::integer(0);
            }
            result = x - y;
            break;
        case Binary::kMul:
            result = x * y;
            break;
        case Binary::kFloorDiv:
        case Binary::kMod:
            // Python raises an error where the divisor is 0, and so does the graph.
            if (!y.is_at_least(1)) {
                return std::nullopt;
            }
            result = op == Binary::kFloorDiv ? floor_div(x, y) : modulo(x, y);
            break;
        default:
            return std::nullopt;
    }
    if (result.is_static()) {
        return Object::integer(result.value());
    }
    // x + 0 and x * 1 are x, also where nothing is known of x.
    bool is_sum = op == Binary::kAdd || op == Binary::kSub;
    bool is_product = op == Binary::kMul || op == Binary::kFloorDiv;
    if (a.is_tensor() && ((is_sum && is_int(b, 0)) || (is_product && is_int(b, 1)))) {
        return a;
    }
    if (b.is_tensor() &&
        ((op == Binary::kAdd && is_int(a, 0)) || (op == Binary::kMul && is_int(a, 1)))) {
        return b;
    }
    return result.equals(x)   ? std::optional<Object>(a)
           : result.equals(y) ? std::optional<Object>(b)
                              : std::nullopt;
}

std::optional<Object> settled_extreme(Extreme which, const Object& a, const Object& b) {
    if (are_one_value(a, b)) {
        return a;
    }
    Dim x = dim_of(a), y = dim_of(b);
    if ((x - y).is_at_least(0)) {
        return which == Extreme::kMax ? a : b;
    }
    return (y - x).is_at_least(0) ? std::optional<Object>(which == Extreme::kMax ? b : a)
                                  : std::nullopt;
}

std::optional<bool> settled_compare(CompareOp op, const Object& a, const Object& b) {
    if (op > CompareOp::kGtE) {
        return std::nullopt;
    }
    if (are_one_value(a, b)) {
        return op == CompareOp::kEq || op == CompareOp::kLtE || op == CompareOp::kGtE;
    }
    Dim x = dim_of(a), y = dim_of(b);
    if (op == CompareOp::kEq || op == CompareOp::kNotEq) {
        return x.equals(y)    ? std::optional<bool>(op == CompareOp::kEq)
               : x.differs(y) ? std::optional<bool>(op == CompareOp::kNotEq)
                              : std::nullopt;
    }
    if (op == CompareOp::kGt || op == CompareOp::kGtE) {
        return settled_compare(op == CompareOp::kGt ? CompareOp::kLt : CompareOp::kLtE, b, a);
    }
    bool is_strict = op == CompareOp::kLt;
    if ((y - x).is_at_least(is_strict ? 1 : 0)) {
        return true;
    }
    return (x - y).is_at_least(is_strict ? 0 : 1) ? std::optional<bool>(false) : std::nullopt;
}

std::optional<bool> settled_truth(const Object& object) {
    return is_python_int(object) ? settled_compare(CompareOp::kNotEq, object, Object::integer(0))
                                 : std::nullopt;
}

std::optional<Object> reshape_sizes(const ir::Value* data, const Object& sizes, ZeroSize zero) {
    if (!is_int_sequence(sizes) || data == nullptr || !data->type.has_shape()) {
        return std::nullopt;
    }
    std::vector<Object> items = sizes.items();
    std::vector<size_t> unknown;
    Dim given(1), count(1);
    bool is_positive = true, is_kept = zero == ZeroSize::kStays;
    for (size_t i = 0; i < items.size(); ++i) {
        given = given * dim_of(items[i]);
        if (items[i].is_integer()) {
            is_positive = is_positive && items[i].as_int() > 0;
            continue;
        }
        unknown.push_back(i);
        is_kept = is_kept && keeps_axis(items[i], data, i);
    }
    for (const Dim& dim : data->type.shape()) {
        count = count * dim;
    }
    // -1 beside a 0 would mean nothing, and beside a wrong number something else than an error.
    bool is_rest = unknown.size() == 1 && is_positive && given.equals(count);
    if (unknown.empty() || !(is_kept || is_rest)) {
        return std::nullopt;
    }
    for (size_t i : unknown) {
        items[i] = Object::integer(is_kept ? 0 : -1);
    }
    return Object::tuple(std::move(items));
}

ir::Value* joined_sizes(Context& c, const std::vector<Object>& leaves, size_t first, size_t& count,
                        Range range) {
    // The first leaf that says whose size it is may stand behind some that are static.
    size_t anchor = first;
    while (anchor < leaves.size() && anchor - first < kMostUses &&
           leaves[anchor].is(ObjectKind::kInt)) {
        ++anchor;
    }
    Origin origin = anchor < leaves.size() ? origin_of(leaves[anchor]) : Origin{};
    if (origin.tensor == nullptr) {
        return nullptr;
    }
    int64_t start = origin.axis - static_cast<int64_t>(anchor - first);
    int64_t end = start;
    while (first + static_cast<size_t>(end - start) < leaves.size() &&
           is_size_of(leaves[first + static_cast<size_t>(end - start)], origin.tensor, end)) {
        ++end;
    }
    if (end <= origin.axis) {
        return nullptr;  // the static ones are not those before it
    }
    count = static_cast<size_t>(end - start);
    if (start == 0 && end == static_cast<int64_t>(origin.tensor->type.shape().size())) {
        return whole_shape(c, origin.tensor, range);
    }
    Emitter e(c, range);
    if (e.opset() >= kShapeOfRange) {
        return part_of_shape(c, origin.tensor, start, end, range);
    }
    std::vector<int64_t> axes;
    for (int64_t axis = start; axis < end; ++axis) {
        axes.push_back(axis);
    }
    return e.emit("Gather", {whole_shape(c, origin.tensor, range), e.int64s(std::move(axes))},
                  {ir::make_attribute("axis", int64_t{0})});
}

}  // namespace sardonyx::elaborate
