// Subscripts: x[1:, None], FLOAT["N"], xs[0] on static lists and on sequences, Optional[int].
#include "elaborate/subscripts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "elaborate/annotations.h"
#include "elaborate/emit/as_value.h"
#include "elaborate/emit/constants.h"
#include "elaborate/emit/emit.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/emit/interpreter.h"
#include "elaborate/emit/operator_binding.h"
#include "elaborate/emit/opsets.h"
#include "elaborate/emit/repairs.h"
#include "elaborate/emit/sequences.h"
#include "elaborate/emit/sizes.h"
#include "elaborate/emit/values.h"
#include "elaborate/library/array_choices.h"
#include "elaborate/library/builtins.h"
#include "elaborate/library/methods.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/changes.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/type_text.h"
#include "elaborate/operators/equality.h"
#include "elaborate/operators/special_methods.h"
#include "ir/standard.h"
#include "lowering/subscript.h"

namespace sardonyx::elaborate {

using lowering::SliceBound;
using lowering::SubscriptItem;
using lowering::SubscriptKind;
using syntax::Expr;
using syntax::ExprKind;
using syntax::Range;

namespace {

using Item = SubscriptItem<ir::Value*>;

Object refuse_index(Context& c, Range range, std::string message, std::string help) {
    c.report(kUnsupportedOperand, range, std::move(message)).with_help(std::move(help));
    return Object::error();
}

// --- Tensors -------------------------------------------------------------------------------------

// An integer or a tensor as a bound of a slice; false after a diagnostic.
// As it is; any int is in range as an INT64, or is out of range.
ir::Value* index_value(Context& c, const Object& object, Range range) {
    bool is_int = object.is_number_tensor() && is_integer(object.value()->type.element_type());
    return as_value(c, object, range, is_int ? ElementType::kInt64 : ElementType::kUndefined);
}

bool to_bound(Context& c, const Object& object, Range range,
              std::optional<SliceBound<ir::Value*>>& bound) {
    if (object.is_none()) {
        return true;
    }
    if (object.is_integer()) {
        bound = SliceBound<ir::Value*>{object.as_int(), nullptr};
        return true;
    }
    if (object.is_tensor() || object.is(ObjectKind::kAttribute) ||
        object.is(ObjectKind::kConstant)) {
        ir::Value* value = index_value(c, object, range);
        ElementType type = value != nullptr ? value->type.element_type() : ElementType::kUndefined;
        if (value != nullptr && (is_integer(type) || type == ElementType::kUndefined)) {
            bound = SliceBound<ir::Value*>{std::nullopt, value};
            return true;
        }
    }
    if (!object.is_error()) {
        refuse_index(c, range, fmt::format("{} as a bound of a slice", kind_name(object)),
                     "use an integer or a scalar tensor of integers");
    }
    return false;
}

std::optional<Item> to_item(Context& c, const Object& object, Range range) {
    Item item;
    switch (object.kind()) {
        case ObjectKind::kNone:
            item.kind = SubscriptKind::kNewAxis;
            return item;
        case ObjectKind::kEllipsis:
            item.kind = SubscriptKind::kEllipsis;
            return item;
        case ObjectKind::kInt:
            item.index = object.as_int();
            return item;
        case ObjectKind::kSlice: {
            const SliceObject& slice = object.get<SliceObject>();
            item.kind = SubscriptKind::kSlice;
            if (to_bound(c, slice.lower, range, item.lower) &&
                to_bound(c, slice.upper, range, item.upper) &&
                to_bound(c, slice.step, range, item.step)) {
                return item;
            }
            return std::nullopt;
        }
        case ObjectKind::kTensor:
        case ObjectKind::kAttribute:
        case ObjectKind::kConstant:
        case ObjectKind::kList: {
            item.kind = SubscriptKind::kTensor;
            item.tensor = index_value(c, object, range);
            if (item.tensor == nullptr) {
                return std::nullopt;
            }
            ElementType type = item.tensor->type.element_type();
            if (is_integer(type) || type == ElementType::kBool || type == ElementType::kUndefined) {
                return item;
            }
            refuse_index(c, range, fmt::format("a tensor of {} as an index", name(type)),
                         "use integers or a mask of BOOL");
            return std::nullopt;
        }
        case ObjectKind::kError:
            return std::nullopt;
        default:
            refuse_index(c, range, fmt::format("{} as an index of a tensor", kind_name(object)),
                         "use integers, slices, `None`, `...`, or tensors of integers or BOOL");
            return std::nullopt;
    }
}

}  // namespace

std::optional<std::vector<Item>> subscript_items(Context& c, const Object& index,
                                                 const Expr* index_expr) {
    std::vector<Object> parts{index};
    bool is_tuple = index.is(ObjectKind::kTuple);
    if (is_tuple) {
        parts = index.items();
    }
    const auto* display = index_expr->kind == ExprKind::kTuple
                              ? static_cast<const syntax::SequenceExpr*>(index_expr)
                              : nullptr;
    std::vector<Item> items;
    for (size_t i = 0; i < parts.size(); ++i) {
        Range at = display != nullptr && i < display->items.size() ? display->items[i]->range
                                                                   : index_expr->range;
        std::optional<Item> item = to_item(c, parts[i], at);
        if (!item) {
            return std::nullopt;
        }
        items.push_back(*item);
    }
    return items;
}

namespace {

Object tensor_subscript(Context& c, ir::Value* value, const Object& index, const Expr* index_expr,
                        Range range, Range object_range) {
    std::optional<std::vector<Item>> items = subscript_items(c, index, index_expr);
    if (!items) {
        return Object::error();
    }
    Range ranges[] = {object_range, index_expr->range};
    Emitter e(c, range, ranges);
    ir::Value* result = lowering::lower_subscript(e, value, std::move(*items));
    return as_object(result);
}

Object sequence_item(Context& c, ir::Value* sequence, const Object& index, Range range,
                     Range index_range) {
    ir::Value* position = as_value(c, index, index_range, ElementType::kInt64);
    Emitter e(c, range);
    return position != nullptr ? as_object(e.emit("SequenceAt", {sequence, position}))
                               : Object::error();
}

// A slice of a list that the graph makes, where the list is the rows of a tensor.
Object sequence_part(Context& c, ir::Value* sequence, const Object& slice, const Expr* index_expr,
                     Range range, Range object_range) {
    ir::Value* rows = stacked_rows(sequence);
    if (rows == nullptr) {
        return refuse_index(c, range, "a slice of a list of tensors that the graph makes",
                            "append the items that are needed to another list, in a loop");
    }
    Object part = tensor_subscript(c, rows, slice, index_expr, range, object_range);
    return part.is_tensor() ? as_object(split_rows(c, part.value(), range)) : part;
}

// --- Static objects ------------------------------------------------------------------------------

}  // namespace

std::optional<RangeObject> slice_range(const SliceObject& slice, int64_t size) {
    auto number = [](const Object& object, int64_t otherwise) -> std::optional<int64_t> {
        return object.is_none()      ? otherwise
               : object.is_integer() ? std::optional<int64_t>(object.as_int())
                                     : std::nullopt;
    };
    std::optional<int64_t> step = number(slice.step, 1);
    if (!step || *step == 0) {
        return std::nullopt;
    }
    auto clamp = [size, &step](int64_t i) {
        i = i < 0 ? i + size : i;
        int64_t low = *step > 0 ? 0 : -1, high = *step > 0 ? size : size - 1;
        return std::min(std::max(i, low), high);
    };
    std::optional<int64_t> lower = number(slice.lower, 0), upper = number(slice.upper, 0);
    if (!lower || !upper) {
        return std::nullopt;
    }
    int64_t start = slice.lower.is_none() ? (*step > 0 ? 0 : size - 1) : clamp(*lower);
    int64_t stop = slice.upper.is_none() ? (*step > 0 ? size : -1) : clamp(*upper);
    return RangeObject{start, stop, *step};
}

namespace {

void report_missing_key(Context& c, const DictObject& dict, const Object& key, Range range) {
    constexpr size_t kShown = 5;
    std::vector<std::string> texts;
    std::vector<std::string_view> words;
    for (const auto& [known, value] : dict.items) {
        if (known.is(ObjectKind::kString)) {
            words.emplace_back(known.text());
        }
        if (texts.size() < kShown) {
            texts.push_back(fmt::format("`{}`", repr(known)));
        }
    }
    std::string_view near = key.is(ObjectKind::kString) ? nearest(key.text(), words) : "";
    diagnostics::Diagnostic& reported =
        c.report(kStaticError, range, fmt::format("the dict has no key `{}`", repr(key)));
    raises(c, "KeyError");
    if (!near.empty()) {
        reported.with_help(fmt::format("did you mean `'{}'`?", near));
        offer_string(c, reported, range, near);
    } else if (texts.empty()) {
        reported.with_help("the dict is empty");
    } else {
        reported.with_help(fmt::format("its keys are {}{}", fmt::join(texts, ", "),
                                       dict.items.size() > kShown ? ", ..." : ""));
    }
}

// What a dict gives for a key that it does not have: a defaultdict puts a new value in.
Object missing_item(Context& c, const Object& object, const Object& key, Range range,
                    Range key_range) {
    DictObject& dict = object.get<DictObject>();
    if (dict.of == DictClass::kCounter) {
        return check_key(c, key, key_range) ? Object::integer(0) : Object::error();
    }
    if (dict.of != DictClass::kDefault || dict.factory.is_none()) {
        report_missing_key(c, dict, key, key_range);
        return Object::error();
    }
    if (!check_key(c, key, key_range) ||
        !may_change(c, object, range, "give it the key before, as in `d[key] = 0`")) {
        return Object::error();
    }
    Arguments nothing;
    nothing.range = nothing.callee_range = range;
    Object value = call(c, dict.factory, nothing);
    if (!value.is_error()) {
        log_replacement(c, object);
        dict.set(key, value);
    }
    return value;
}

// A slice of a range, which is a range; nothing: its bounds are not known, or too large.
std::optional<RangeObject> range_part(const RangeObject& whole, const SliceObject& slice) {
    std::optional<RangeObject> part = slice_range(slice, whole.size());
    if (!part) {
        return std::nullopt;
    }
    auto place = [&whole](int64_t i) { return Int128{whole.start} + Int128{i} * whole.step; };
    Int128 start = place(part->start), stop = place(part->stop),
           step = Int128{whole.step} * part->step;
    return fits_int64(start) && fits_int64(stop) && fits_int64(step)
               ? std::optional(RangeObject{static_cast<int64_t>(start), static_cast<int64_t>(stop),
                                           static_cast<int64_t>(step)})
               : std::nullopt;
}

Object static_subscript(Context& c, const Object& object, const Object& index, Range range,
                        Range index_range) {
    if (object.is(ObjectKind::kDict)) {
        std::optional<const Object*> place =
            find_key(c, object.get<DictObject>(), index, index_range);
        if (!place) {
            return Object::error();
        }
        const Object* found = *place;
        if (found == nullptr) {
            return missing_item(c, object, index, range, index_range);
        }
        if (index.is(ObjectKind::kString)) {
            name_array(c, *found, index.text(), NamedBy::kKey);
        }
        return *found;
    }
    if (object.is(ObjectKind::kRange) && index.is(ObjectKind::kSlice)) {
        if (std::optional<RangeObject> part =
                range_part(object.get<RangeObject>(), index.get<SliceObject>())) {
            return Object::make(ObjectKind::kRange, *part);
        }
    }
    // Python gives the items of others in turn alone.
    bool has_places = !object.is(ObjectKind::kIterator) && !object.is(ObjectKind::kSet) &&
                      !object.is(ObjectKind::kModule);
    std::optional<std::vector<Object>> items = has_places ? static_items(c, object) : std::nullopt;
    if (!items) {
        return refuse_index(c, range, fmt::format("{} is indexed", kind_name(object)),
                            "index a tensor, a list, a tuple or a dict");
    }
    int64_t size = static_cast<int64_t>(items->size());
    if (index.is(ObjectKind::kSlice)) {
        std::optional<RangeObject> chosen = slice_range(index.get<SliceObject>(), size);
        if (!chosen) {
            c.report(kStaticRequired, index_range,
                     "a slice of a static list with bounds that are not")
                .with_help("use integers, and a step other than 0");
            return Object::error();
        }
        std::vector<Object> result;
        std::string text;
        for (int64_t i = 0; i < chosen->size(); ++i) {
            result.push_back((*items)[static_cast<size_t>(chosen->start + i * chosen->step)]);
            text += object.is(ObjectKind::kString) ? result.back().text() : "";
        }
        return object.is(ObjectKind::kString)  ? Object::string(std::move(text))
               : object.is(ObjectKind::kTuple) ? Object::tuple(std::move(result))
                                               : Object::list(std::move(result));
    }
    std::optional<size_t> i = list_index(c, object, index, items->size(), index_range);
    return i ? (*items)[*i] : Object::error();
}

// --- Types ---------------------------------------------------------------------------------------

// The first part that is no dimension, where its text stands alone; else all of them.
Range wrong_part(const TypeObject& bare, const std::vector<Object>& parts, const Expr* index) {
    if (index->kind != ExprKind::kTuple) {
        return index->range;
    }
    const auto* items = static_cast<const syntax::SequenceExpr*>(index);
    for (size_t i = 0; i < parts.size() && items->items.size() == parts.size(); ++i) {
        if (!with_dims(bare, {&parts[i], 1}).ok()) {
            return items->items[i]->range;
        }
    }
    return index->range;
}

// FLOAT[2, "N"], FLOAT["M N"], FLOAT[...].
Object typed_subscript(Context& c, const Object& object, const Object& index, Range range,
                       const Expr* index_expr) {
    const TypeObject& bare = object.get<TypeObject>();
    if (bare.explicit_shape) {
        c.report(kInvalidAnnotation, range,
                 fmt::format("`{}` has its shape already", type_text(bare.type)))
            .with_help("give all dims in one pair of brackets");
        return Object::error();
    }
    std::vector<Object> parts{index};
    if (index.is(ObjectKind::kTuple)) {
        parts = index.items();
    }
    Result<TypeObject> shaped = with_dims(bare, parts);
    if (!shaped.ok()) {
        c.report(kInvalidAnnotation, wrong_part(bare, parts, index_expr), shaped.error().message)
            .with_help(std::string(kDimensionHelp));
        return Object::error();
    }
    return Object::make(ObjectKind::kType, std::move(*shaped));
}

// x.shape[i] and x.shape[1:] where the rank is not known.
Object shape_subscript(Context& c, const Object& object, const Object& index,
                       const Expr* index_expr, Range range, Range object_range) {
    if (!index.is_integer() && !index.is_graph_value() && !index.is(ObjectKind::kSlice)) {
        return refuse_index(c, range, fmt::format("a tuple is indexed with {}", kind_name(index)),
                            "use an integer or a slice");
    }
    Object part = tensor_subscript(c, object.value(), index, index_expr, range, object_range);
    if (!part.is_tensor()) {
        return part;
    }
    return index.is(ObjectKind::kSlice) ? Object::shape(part.value())
                                        : Object::number(part.value());
}

// An item of a list of numbers, at a place that is known when the graph runs.
Object number_subscript(Context& c, const Object& list, const Object& index, const Expr* index_expr,
                        Range range, Range object_range) {
    auto is_float = [](const Object& one) {
        return is_python_number(one) && number_type(one) == ElementType::kDouble;
    };
    const std::vector<Object>& all = list.items();
    bool any_float = std::any_of(all.begin(), all.end(), is_float);
    ElementType type = any_float ? ElementType::kDouble : ElementType::kUndefined;
    for (const Object& one : all) {
        if (refuse_rounding(c, one, type, object_range)) {
            return Object::error();
        }
    }
    ir::Value* value = as_value(c, list, object_range, type);
    Object item = value != nullptr
                      ? tensor_subscript(c, value, index, index_expr, range, object_range)
                      : Object::error();
    const std::vector<Object>& items = list.items();
    bool are_numbers = std::all_of(items.begin(), items.end(), is_python_number);
    bool is_one =
        item.is_tensor() && item.value()->type.has_shape() && item.value()->type.shape().empty();
    return are_numbers && is_one
               ? Object::number(item.value())
                     .either(any_float && !std::all_of(all.begin(), all.end(), is_float))
               : item;
}

}  // namespace

std::optional<std::vector<Object>> tensor_rows(Context& c, const Object& object, Range range) {
    const Type& type = object.value()->type;
    if (!type.is_tensor() || !type.has_shape() || type.shape().empty() ||
        !type.shape()[0].is_static() ||
        type.shape()[0].value() > c.options.limits.static_iterations) {
        return std::nullopt;
    }
    std::vector<Object> items;
    Emitter e(c, range);
    for (int64_t i = 0; i < type.shape()[0].value(); ++i) {
        items.push_back(as_object(e.emit("Gather", {object.value(), e.int64_scalar(i)},
                                         {ir::make_attribute("axis", int64_t{0})})));
    }
    return items;
}

namespace {

// What the index selects of an array is NumPy's, too.
Object part_of(const Object& whole, const Object& part) {
    bool is_array = whole.is(ObjectKind::kConstant) || whole.is_array_part();
    return is_array && part.is_tensor() ? Object::array_part(part.value()) : part;
}

}  // namespace

Object subscript(Context& c, const Object& object, const Object& index, const Expr* index_expr,
                 Range range, Range object_range) {
    if (object.is_error() || index.is_error()) {
        return Object::error();
    }
    switch (object.kind()) {
        case ObjectKind::kNumbers: {
            bool is_slice = index.is(ObjectKind::kSlice);
            if (!is_slice && !is_python_int(index)) {
                return refuse_index(c, range,
                                    fmt::format("a list is indexed with {}", kind_name(index)),
                                    "use an int or a slice");
            }
            Object part =
                tensor_subscript(c, object.value(), index, index_expr, range, object_range);
            return !part.is_tensor() ? part
                   : is_slice        ? Object::numbers(part.value())
                                     : Object::number(part.value());
        }
        case ObjectKind::kTensor:
            if (object.is_shape_tensor()) {
                return shape_subscript(c, object, index, index_expr, range, object_range);
            }
            if (object.value()->type.kind() == TypeKind::kSequence) {
                return index.is(ObjectKind::kSlice)
                           ? sequence_part(c, object.value(), index, index_expr, range,
                                           object_range)
                           : sequence_item(c, object.value(), index, range, index_expr->range);
            }
            return part_of(object, tensor_subscript(c, object.value(), index, index_expr, range,
                                                    object_range));
        case ObjectKind::kAttribute:
        case ObjectKind::kConstant: {
            if (std::optional<Object> known = array_item(c, object, index, range)) {
                name_part(c, *known, object);
                return as_numpys_number(*known);
            }
            ir::Value* value = as_value(c, object, object_range);
            return value != nullptr ? part_of(object, tensor_subscript(c, value, index, index_expr,
                                                                       range, object_range))
                                    : Object::error();
        }
        case ObjectKind::kType:
            return typed_subscript(c, object, index, range, index_expr);
        case ObjectKind::kPythonType: {
            PythonType type{object.get<PythonType>().name, {index}};
            if (index.is(ObjectKind::kTuple)) {
                type.arguments = index.items();
            }
            return Object::make(ObjectKind::kPythonType, std::move(type));
        }
        case ObjectKind::kOpset: {
            std::optional<bool> is_known =
                index.is(ObjectKind::kString)
                    ? has_operator(c, compiled_opset(c, object.get<OpsetObject>()), index.text())
                    : std::nullopt;
            if (!is_known) {
                return refuse_index(c, range,
                                    fmt::format("an opset is indexed with {}", kind_name(index)),
                                    "give the name of an operator: `op[\"Abs\"]`");
            }
            return *is_known ? Object::make(ObjectKind::kOperator,
                                            OperatorObject{object.get<OpsetObject>(), index.text()})
                             : Object::none();
        }
        case ObjectKind::kOpaque: {
            Environment::Answer answer = c.function().environment->item(object, index);
            if (answer.value) {
                note_foreign(c, *answer.value);
                return *answer.value;
            }
            if (index.is_graph_value()) {
                if (std::optional<Object> item =
                        call_special(c, object, "__getitem__", {index}, range)) {
                    return *item;
                }
            }
            return refuse_index(c, range,
                                fmt::format("`{}` has no item {}{}{}", repr(object), repr(index),
                                            answer.error.empty() ? "" : ": ", answer.error),
                                "look it up outside the script");
        }
        default:
            if (std::optional<Object> member = member_named(object, index)) {
                return *member;
            }
            if (std::optional<Object> grid = grid_item(c, object, index, range)) {
                return *grid;
            }
            if (std::optional<Object> method = special_method(object, "__getitem__")) {
                return call_method_of(c, *method, object, {index}, range);
            }
            if (index.is_tensor() && !index.is_shape_tensor() && object.is_sequence() &&
                (object.is_static() || is_int_sequence(object))) {
                return number_subscript(c, object, index, index_expr, range, object_range);
            }
            return static_subscript(c, object, index, range, index_expr->range);
    }
}

Object item_of(Context& c, const Object& object, const Object& index, Range range) {
    const Expr place{ExprKind::kError, range};
    return subscript(c, object, index, &place, range, range);
}

}  // namespace sardonyx::elaborate
