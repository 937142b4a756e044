// Lists that the graph makes: ONNX sequences, and vectors of Python's numbers.

#include "elaborate/emit/sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "elaborate/emit/as_value.h"
#include "elaborate/emit/emit.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/emit/values.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/statics.h"
#include "ir/standard.h"

namespace sardonyx::elaborate {

using syntax::Range;

bool may_be_numbers(const Object& object) {
    return object.is_numbers() ||
           (object.is(ObjectKind::kList) &&
            std::all_of(object.items().begin(), object.items().end(), is_python_number));
}

bool is_open_list(const Object& object) {
    return object.is_numbers() && object.value()->type.element_type() == ElementType::kUndefined;
}

std::optional<ElementType> type_of_numbers(const Object& object) {
    if (object.is_numbers()) {
        return object.value()->type.element_type();
    }
    ElementType type = ElementType::kUndefined;
    for (const Object& item : object.items()) {
        ElementType own = number_type(item);
        if (item.is_either() || (type != ElementType::kUndefined && own != type)) {
            return std::nullopt;
        }
        type = own;
    }
    return type;
}

namespace {

Object refuse_mixed(Context& c, Range range, std::string_view what) {
    c.report(kUnsupportedOperand, range,
             fmt::format("{} in one list that grows in the graph", what))
        .with_help("give all items one type, as by `float(n)`");
    return Object::error();
}

// A vector of numbers with more of them.
Object insert_numbers(Context& c, const Object& numbers, const Object& more, Range range) {
    ElementType held = numbers.value()->type.element_type();
    std::optional<ElementType> type = type_of_numbers(more);
    if (type == ElementType::kUndefined) {
        return numbers;
    }
    if (!type || (held != ElementType::kUndefined && held != *type)) {
        return refuse_mixed(c, range, "ints, floats or bools");
    }
    ir::Value* added = as_value(c, more, range, *type);
    Emitter e(c, range);
    ir::Value* grown = added != nullptr ? e.emit("Concat", {numbers.value(), added},
                                                 {ir::make_attribute("axis", int64_t{0})})
                                        : nullptr;
    if (grown == nullptr) {
        return Object::error();
    }
    if (held == ElementType::kUndefined) {
        grown->type = Type::tensor(*type, Shape{Dim()});
    }
    return Object::numbers(grown);
}

}  // namespace

Object joined_numbers(Context& c, const Object& a, const Object& b, Range range) {
    if (a.is_numbers() && b.is(ObjectKind::kList)) {
        return insert_items(c, a, b, range);
    }
    if (!may_be_numbers(a) || !may_be_numbers(b)) {
        return refuse(c, range, fmt::format("`+` between {} and {}", kind_name(a), kind_name(b)),
                      "join lists of numbers of one type");
    }
    if (a.is_numbers()) {
        return insert_numbers(c, a, b, range);
    }
    ElementType type = b.value()->type.element_type();
    if (a.items().empty()) {
        return b;
    }
    if (type_of_numbers(a) != type) {
        return refuse_mixed(c, range, "ints, floats or bools");
    }
    ir::Value* first = as_value(c, a, range, type);
    ir::Value* all = first != nullptr
                         ? Emitter(c, range).emit("Concat", {first, b.value()},
                                                  {ir::make_attribute("axis", int64_t{0})})
                         : nullptr;
    return all != nullptr ? Object::numbers(all) : Object::error();
}

Object insert_item(Context& c, const Object& sequence, const Object& item, Range range) {
    if (item.is_error() || sequence.is_error()) {
        return Object::error();
    }
    bool is_open = is_open_list(sequence);
    if (sequence.is_numbers() && is_python_number(item)) {
        if (item.is_either()) {
            report_either(c, range);
            return Object::error();
        }
        return insert_numbers(c, sequence, Object::list({item}), range);
    }
    if (sequence.is_numbers() && !is_open) {
        return refuse_mixed(c, range, fmt::format("{} and numbers", kind_name(item)));
    }
    if (!is_leaf(item)) {
        c.report(
             kUnsupportedOperand, range,
             fmt::format("{} becomes an item of a list that grows in the graph", kind_name(item)))
            .with_help("append tensors or numbers of one type");
        return Object::error();
    }
    ElementType element =
        is_open ? ElementType::kUndefined : sequence.value()->type.element().element_type();
    ir::Value* value = as_typed_value(c, item, element, range);
    ir::Value* grown = value != nullptr
                           ? Emitter(c, range).emit("SequenceInsert", {sequence.value(), value})
                           : nullptr;
    if (grown != nullptr && element == ElementType::kUndefined) {
        grown->type = Type::sequence(value->type);
    }
    return as_object(grown);
}

Object insert_items(Context& c, Object sequence, const Object& list, Range range) {
    if (sequence.is_numbers() && list.is_numbers()) {
        return insert_numbers(c, sequence, list, range);
    }
    std::optional<std::vector<Object>> items = static_items(c, list);
    if (!items) {
        return refuse(c, range, fmt::format("a list extended by {}", kind_name(list)),
                      "append the items one by one");
    }
    for (const Object& item : *items) {
        sequence = insert_item(c, sequence, item, range);
    }
    return sequence;
}

namespace {

int64_t integer(const ir::Attribute& attribute) {
    const int64_t* value = attribute.get<int64_t>();
    return value != nullptr ? *value : -1;
}

}  // namespace

ir::Value* stacked_rows(const ir::Value* sequence) {
    const ir::Node* node = sequence->producer();
    if (!ir::is_standard(node, "SplitToSequence") || node->input_count() != 1) {
        return nullptr;
    }
    const ir::Attribute* axis = node->find_attribute("axis");
    const ir::Attribute* keeps = node->find_attribute("keepdims");
    return axis != nullptr && integer(*axis) == 0 && keeps != nullptr && integer(*keeps) == 0
               ? node->input(0)
               : nullptr;
}

ir::Value* stacked_rows(const ir::Value* sequence, const std::vector<ir::Attribute>& attributes) {
    bool stacks = false;
    for (const ir::Attribute& attribute : attributes) {
        if (attribute.name == "axis" && integer(attribute) != 0) {
            return nullptr;
        }
        stacks = stacks || (attribute.name == "new_axis" && integer(attribute) == 1);
    }
    return stacks ? stacked_rows(sequence) : nullptr;
}

ir::Value* split_rows(Context& c, ir::Value* rows, Range range) {
    return Emitter(c, range).emit(
        "SplitToSequence", {rows},
        {ir::make_attribute("axis", int64_t{0}), ir::make_attribute("keepdims", int64_t{0})});
}

}  // namespace sardonyx::elaborate
