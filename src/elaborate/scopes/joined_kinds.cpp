// What a value that is one or the other of two is to Python, and which two can be one value.
#include "elaborate/scopes/joined_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "elaborate/emit/sequences.h"
#include "elaborate/emit/values.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/type_text.h"

namespace sardonyx::elaborate {

namespace {

// The rank of what the object is as a tensor; nothing where it is not known, and for a Python
// number, which goes with tensors of any rank.
std::optional<size_t> rank_of_leaf(const Object& object) {
    if (object.is(ObjectKind::kConstant)) {
        return static_cast<size_t>(object.get<Tensor>().rank());
    }
    bool is_tensor =
        object.is_tensor() && !object.is_number_tensor() && object.value()->type.is_tensor();
    return is_tensor && object.value()->type.has_shape()
               ? std::optional(object.value()->type.shape().size())
               : std::nullopt;
}

}  // namespace

bool are_same_to_python(const Object& x, const Object& y) {
    auto is_shape = [](const Object& object) {
        return object.is_shape_tensor() || object.is(ObjectKind::kTuple);
    };
    if (x.is_shape_tensor() || y.is_shape_tensor()) {
        return is_shape(x) && is_shape(y);
    }
    std::optional<size_t> left = rank_of_leaf(x), right = rank_of_leaf(y);
    return !left || !right || *left == *right;
}

Object joined_kind(const Object& x, const Object& y, ir::Value* output) {
    bool x_is_number = is_python_number(x), y_is_number = is_python_number(y);
    auto is_of_array = [](const Object& one) {
        return one.is(ObjectKind::kConstant) || one.is_array_part();
    };
    bool are_mixed =
        x_is_number || y_is_number || x.is_tensor_or_number() || y.is_tensor_or_number();
    return x_is_number && y_is_number                      ? Object::number(output)
           : x.is_shape_tensor() || y.is_shape_tensor()    ? Object::shape(output)
           : is_of_array(x) && is_of_array(y)              ? Object::array_part(output)
           : are_mixed || is_of_array(x) || is_of_array(y) ? Object::tensor_or_number(output)
                                                           : Object::tensor(output);
}

std::optional<ElementType> item_type(const Object& a, const Object& b) {
    ElementType type = ElementType::kUndefined;
    Object first;
    for (const Object* list : {&a, &b}) {
        if (is_sequence_value(*list)) {
            ElementType element = list->value()->type.element().element_type();
            if (type != ElementType::kUndefined && element != ElementType::kUndefined &&
                type != element && !(first.is_error() || is_python_number(first))) {
                return std::nullopt;
            }
            type = element != ElementType::kUndefined ? element : type;
            continue;
        }
        if (list->is_numbers()) {
            continue;
        }
        for (const Object& item : list->items()) {
            std::optional<ElementType> common = common_type(first.is_error() ? item : first, item);
            if (!common) {
                return std::nullopt;
            }
            bool is_settled = type != ElementType::kUndefined && is_python_number(item);
            type = is_settled ? type : *common;
            first = first.is_error() || !is_python_number(item) ? item : first;
        }
    }
    return type;
}

namespace {

bool may_be_sequence(const Object& object) {
    return is_sequence_value(object) || is_open_list(object) ||
           (object.is(ObjectKind::kList) &&
            std::all_of(object.items().begin(), object.items().end(), is_leaf));
}

}  // namespace

bool are_sequences(const Object& a, const Object& b) {
    return may_be_sequence(a) && may_be_sequence(b) && !(is_leaf(a) && is_leaf(b));
}

bool are_numbers(const Object& a, const Object& b) {
    return may_be_numbers(a) && may_be_numbers(b);
}

std::optional<ElementType> type_of_numbers(const Object& a, const Object& b) {
    std::optional<ElementType> left = type_of_numbers(a), right = type_of_numbers(b);
    if (!left || !right || *left == ElementType::kUndefined) {
        return left && right != ElementType::kUndefined ? right : std::nullopt;
    }
    return *right == ElementType::kUndefined || *right == *left ? left : std::nullopt;
}

std::string describe(const Object& object) {
    return object.is_tensor() ? fmt::format("`{}`", type_text(object.value()->type))
           : object.tuple_class() != nullptr
               ? fmt::format("{} `{}`",
                             object.tuple_class()->kind == Namespace::Kind::kNamedTuple
                                 ? "a named tuple"
                                 : "an instance of",
                             object.tuple_class()->name)
           : class_of(object) != nullptr
               ? fmt::format("an instance of `{}`", class_of(object)->name)
               : fmt::format("{}", kind_name(object));
}

std::string difference(const Object& yes, const Object& no) {
    std::string one = describe(yes), other = describe(no);
    bool is_whole = !yes.is_tensor() && !yes.is_number() && !yes.is_sequence() &&
                    !yes.is(ObjectKind::kDict) && yes.tuple_class() == nullptr;
    return one == other && is_whole
               ? fmt::format(
                     "is {} in one branch and another one in the other, and a graph "
                     "chooses between tensors and numbers only",
                     one)
               : fmt::format("is {} in one branch and {} in the other", one, other);
}

}  // namespace sardonyx::elaborate
