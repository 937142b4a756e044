// Static objects as tensors: numbers, strings, nested lists, arrays; and lists that have values of
// the graph among their items.
#include "elaborate/static_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "elaborate/as_value.h"
#include "elaborate/attributes.h"
#include "elaborate/emitter.h"
#include "elaborate/sizes.h"
#include "elaborate/values.h"
#include "infer/infer.h"
#include "ops/ops.h"
#include "types/integers.h"

namespace sardonyx::elaborate {

namespace {

// --- Static objects as tensors -------------------------------------------------------------------

struct Flat {
    Dims dims;
    std::vector<Object> leaves;
};

// Nested lists as dims and leaves; false when rows differ in length or the leaves are not plain.
bool flatten(const Object& object, size_t level, Flat& flat, int64_t limit) {
    if (level > 32 || static_cast<int64_t>(flat.leaves.size()) > limit) {
        return false;
    }
    if (object.is(ObjectKind::kRange)) {
        const RangeObject& range = object.get<RangeObject>();
        if (range.size() > limit) {
            return false;
        }
        std::vector<Object> items;
        for (int64_t i = 0; i < range.size(); ++i) {
            items.push_back(Object::integer(range.start + i * range.step));
        }
        return flatten(Object::list(std::move(items)), level, flat, limit);
    }
    if (!object.is_sequence()) {
        flat.leaves.push_back(object);
        return level == flat.dims.size();
    }
    int64_t size = static_cast<int64_t>(object.items().size());
    if (flat.dims.size() == level) {
        if (!flat.leaves.empty()) {
            return false;
        }
        flat.dims.push_back(size);
    } else if (flat.dims[level] != size) {
        return false;
    }
    for (const Object& item : object.items()) {
        if (!flatten(item, level + 1, flat, limit)) {
            return false;
        }
    }
    return true;
}

// The same; nothing, and a diagnostic, when it is no tensor.
std::optional<Flat> flatten(Context& c, const Object& object, syntax::Range range) {
    Flat flat;
    if (flatten(object, 0, flat, c.options.limits.text_bytes)) {
        return flat;
    }
    c.report(
         kUnsupportedOperand, range,
         fmt::format("{} that is no tensor: its rows differ in length or type", kind_name(object)))
        .with_help("make every row the same length");
    return std::nullopt;
}

// The element type that Python's values imply.
ElementType implied_type(const std::vector<Object>& leaves) {
    bool any_float = false, all_bool = true, all_text = true, all_number = true;
    for (const Object& leaf : leaves) {
        any_float = any_float || leaf.is(ObjectKind::kFloat);
        all_bool = all_bool && leaf.is(ObjectKind::kBool);
        all_text = all_text && (leaf.is(ObjectKind::kString) || leaf.is(ObjectKind::kBytes));
        all_number = all_number && (leaf.is_number() || leaf.is(ObjectKind::kElementType));
    }
    if (leaves.empty()) {
        return ElementType::kInt64;  // an empty list is a shape or a list of axes more often than
                                     // not
    }
    if (all_text) {
        return ElementType::kString;
    }
    if (!all_number) {
        return ElementType::kUndefined;
    }
    return all_bool ? ElementType::kBool : any_float ? ElementType::kFloat : ElementType::kInt64;
}

Int128 leaf_int(const Object& leaf) {
    return leaf.is(ObjectKind::kElementType) ? Int128{static_cast<int>(leaf.as_element_type())}
                                             : leaf.as_whole();
}

// A float literal that an integer type cannot hold exactly.
bool loses(const Object& leaf, ElementType type) {
    if (!leaf.is(ObjectKind::kFloat) || (!is_integer(type) && type != ElementType::kBool)) {
        return false;
    }
    return leaf.as_double() != std::floor(leaf.as_double());
}

// Numbers that become others: an infinity, zero, another integer. That fractions are rounded is
// true of every type, and not said.
void warn_of_loss(Context& c, const std::vector<Object>& leaves, const Tensor& tensor,
                  syntax::Range range) {
    if (!is_floating(tensor.element_type())) {
        return;  // integers that do not fit are refused
    }
    std::optional<std::vector<double>> got = to_doubles(tensor);
    for (size_t i = 0; got && i < leaves.size(); ++i) {
        double given = leaves[i].is(ObjectKind::kFloat) ? leaves[i].as_double()
                                                        : static_cast<double>(leaf_int(leaves[i]));
        double made = (*got)[i];
        bool is_lost = (std::isinf(made) && !std::isinf(given)) || (made == 0 && given != 0) ||
                       (!leaves[i].is(ObjectKind::kFloat) && made != given);
        if (is_lost) {
            c.report(kLossyCast, range,
                     fmt::format("`{}` becomes `{}` as {}", repr(leaves[i]), made,
                                 name(tensor.element_type())))
                .with_help("write the number that is meant, or cast the tensor to a wider type");
            return;
        }
    }
}

}  // namespace

std::optional<Tensor> static_tensor(Context& c, const Object& object, ElementType type,
                                    syntax::Range range) {
    if (object.is(ObjectKind::kConstant)) {
        return object.get<Tensor>();
    }
    std::optional<Flat> flattened = flatten(c, object, range);
    if (!flattened) {
        return std::nullopt;
    }
    Flat& flat = *flattened;
    ElementType implied = implied_type(flat.leaves);
    if (implied == ElementType::kUndefined) {
        c.report(kUnsupportedOperand, range,
                 fmt::format("{} where a tensor is needed", kind_name(object)))
            .with_help(object.is(ObjectKind::kOperator)
                           ? fmt::format("call it: `op.{}(...)`", object.get<OperatorObject>().name)
                           : "give a tensor, a number, a string, or a list of numbers");
        return std::nullopt;
    }
    type = type == ElementType::kUndefined ? implied : type;
    bool to_text = type == ElementType::kString;
    if (to_text != (implied == ElementType::kString) && !flat.leaves.empty()) {
        c.report(kUnsupportedOperand, range,
                 fmt::format("`{}` where a tensor of {} is needed", repr(object), name(type)))
            .with_help(to_text ? "give a string" : "give a number");
        return std::nullopt;
    }
    if (to_text) {
        std::vector<std::string> texts;
        for (const Object& leaf : flat.leaves) {
            texts.push_back(leaf.text());
        }
        return Tensor::of_strings(std::move(flat.dims), std::move(texts));
    }
    for (const Object& leaf : flat.leaves) {
        if (loses(leaf, type)) {
            c.report(kLossyLiteral, range,
                     fmt::format("`{}` would lose its fraction as {}", repr(leaf), name(type)))
                .with_help(
                    "cast the tensor first, as in `op.Cast(x, to=FLOAT.dtype)`, or write an "
                    "integer");
            return std::nullopt;
        }
    }
    bool all_integer = std::all_of(flat.leaves.begin(), flat.leaves.end(), [](const Object& leaf) {
        return leaf.is_whole() || leaf.is(ObjectKind::kElementType);
    });
    Result<Tensor> tensor = Error{};
    if (type == ElementType::kBool) {
        std::vector<int64_t> bits;
        for (const Object& leaf : flat.leaves) {
            bits.push_back(
                (leaf.is(ObjectKind::kFloat) ? leaf.as_double() != 0 : leaf_int(leaf) != 0) ? 1
                                                                                            : 0);
        }
        tensor = tensor_from_int64s(type, flat.dims, bits);
    } else if (all_integer) {
        std::vector<Int128> integers;
        for (const Object& leaf : flat.leaves) {
            integers.push_back(leaf_int(leaf));
        }
        tensor = tensor_from_integers(type, flat.dims, integers);
    } else {
        std::vector<double> reals;
        for (const Object& leaf : flat.leaves) {
            reals.push_back(leaf.as_double());
        }
        tensor = tensor_from_doubles(type, flat.dims, reals);
    }
    if (!tensor.ok()) {
        c.report(kLossyLiteral, range, tensor.error().message)
            .with_help(fmt::format("use a number that {} can hold", name(type)));
        return std::nullopt;
    }
    warn_of_loss(c, flat.leaves, *tensor, range);
    return std::move(*tensor);
}

namespace {

bool is_row(const Emitter& e, ir::Value* value) {
    return e.rank(value) > 1 || (e.rank(value) == 1 && e.dim(value, 0) != 1);
}

// The leaves of nested lists, some of them tensors, as parts of one vector (or, where they are
// tensors with axes, of rows): numbers that stand side by side are one constant. Empty after a
// diagnostic.
std::vector<ir::Value*> mixed_parts(Context& c, const std::vector<Object>& leaves,
                                    syntax::Range range, ElementType type, ir::Value* like) {
    Emitter e(c, range);
    std::vector<ir::Value*> parts;
    std::vector<Object> numbers;
    size_t rows = 0;
    auto put_numbers = [&] {
        if (!numbers.empty()) {
            parts.push_back(as_value(c, Object::list(std::move(numbers)), range, type, like));
            numbers.clear();
        }
        return parts.empty() || parts.back() != nullptr;
    };
    for (size_t i = 0, count = 1; i < leaves.size(); i += count) {
        const Object& leaf = leaves[i];
        count = 1;
        ir::Value* sizes =
            type == ElementType::kInt64 ? joined_sizes(c, leaves, i, count, range) : nullptr;
        if (sizes == nullptr && !leaf.is_tensor_like()) {
            numbers.push_back(leaf);
            continue;
        }
        ir::Value* value = !put_numbers()     ? nullptr
                           : sizes != nullptr ? sizes
                           : leaf.is_tensor() ? as_typed_value(c, leaf, type, range)
                                              : as_value(c, leaf, range, type, like);
        if (value == nullptr) {
            return {};
        }
        if (sizes != nullptr) {
            parts.push_back(value);
            continue;
        }
        rows += is_row(e, value) ? 1 : 0;
        parts.push_back(is_row(e, value) ? e.emit("Unsqueeze", {value, e.int64s({0})})
                                         : e.emit("Reshape", {value, e.int64s({1})}));
    }
    if (!put_numbers()) {
        return {};
    }
    if (rows != 0 && rows != leaves.size()) {
        c.report(kUnsupportedOperand, range,
                 "a list of tensors with axes and of scalars where a tensor is needed")
            .with_help("give all items one shape, or make a sequence with `op.SequenceConstruct`");
        return {};
    }
    return parts;
}

}  // namespace

ir::Value* mixed_list(Context& c, const Object& object, syntax::Range range, ElementType type,
                      ir::Value* like) {
    std::optional<Flat> flattened = flatten(c, object, range);
    if (!flattened) {
        return nullptr;
    }
    Flat& flat = *flattened;
    bool any_float = false, any_either = false, surely_float = false;
    for (const Object& leaf : flat.leaves) {
        bool is_float = is_python_number(leaf) && is_floating(number_type(leaf));
        any_float = any_float || is_float;
        any_either = any_either || leaf.is_either();
        surely_float = surely_float || (is_float && !leaf.is_either());
        if (type == ElementType::kUndefined && leaf.is_tensor() && !leaf.is_number_tensor()) {
            type = leaf.value()->type.element_type();
            like = like == nullptr ? leaf.value() : like;
        }
    }
    // Python's numbers alone: as literals.
    if (type == ElementType::kUndefined && like == nullptr) {
        if (any_either && !surely_float) {
            report_either(c, range);
            return nullptr;
        }
        type = any_float ? ElementType::kFloat : ElementType::kInt64;
    }
    std::vector<ir::Value*> parts = mixed_parts(c, flat.leaves, range, type, like);
    if (parts.empty()) {
        return nullptr;
    }
    Emitter e(c, range);
    bool of_rows = e.rank(parts[0]) > 1;
    ir::Value* all = parts.size() == 1 ? parts[0]
                                       : e.emit_variadic("Concat", parts,
                                                         {ir::make_attribute("axis", int64_t{0})});
    if (flat.dims.size() < 2) {
        return all;
    }
    if (of_rows) {
        c.report(kUnsupportedOperand, range, "nested lists of tensors with axes")
            .with_help("stack the inner lists first, with `op.Concat`");
        return nullptr;
    }
    return e.emit("Reshape", {all, e.int64s({flat.dims.begin(), flat.dims.end()})});
}

bool has_float(const Object& object) {
    return object.is_sequence()
               ? std::any_of(object.items().begin(), object.items().end(), has_float)
               : object.is(ObjectKind::kFloat);
}

}  // namespace sardonyx::elaborate
