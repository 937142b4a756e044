// Assignments to items: x[i] = v. A static list or dict is changed in place, as in Python. A tensor
// is not: the name gets a new tensor that differs in these items (lowering/item_assignment.h), and
// whoever else holds the tensor is reported (aliases.cpp), because Python would change it too.
#include "elaborate/item_assignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "elaborate/assignments.h"
#include "elaborate/emit/as_value.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/expressions.h"
#include "elaborate/library/methods.h"
#include "elaborate/library/numpy_functions.h"
#include "elaborate/lists.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/changes.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/statics.h"
#include "elaborate/operators/arithmetic.h"
#include "elaborate/operators/special_methods.h"
#include "elaborate/scopes/aliases.h"
#include "elaborate/scopes/cells.h"
#include "elaborate/scopes/generators.h"
#include "elaborate/subscripts.h"
#include "lowering/item_assignment.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::ExprKind;
using syntax::Range;
using syntax::SubscriptExpr;

namespace {

// Where an item stands, all parts of it evaluated once, and, for xs[0][1], where the list or tensor
// that it belongs to stands itself.
struct ItemPlace {
    const SubscriptExpr* expr = nullptr;
    Object container;
    Object index;
    std::unique_ptr<ItemPlace> outer;
};

Object read_place(Context& c, const ItemPlace& place) {
    return subscript(c, place.container, place.index, place.expr->index, place.expr->range,
                     place.expr->value->range);
}

// Null after an error.
std::unique_ptr<ItemPlace> resolve(Context& c, const SubscriptExpr* expr) {
    DepthGuard guard(c, expr->range);
    if (!guard) {
        return nullptr;
    }
    auto place = std::make_unique<ItemPlace>();
    place->expr = expr;
    if (const auto* name = syntax::maybe_as<syntax::NameExpr>(expr->value)) {
        own_in_branch(c, name->name);
    }
    if (const auto* inner = syntax::maybe_as<SubscriptExpr>(expr->value)) {
        place->outer = resolve(c, inner);
        place->container = place->outer != nullptr ? read_place(c, *place->outer) : Object::error();
    } else {
        place->container = eval(c, expr->value);
    }
    place->index = place->container.is_error() ? Object::error() : eval(c, expr->index);
    return place->index.is_error() ? nullptr : std::move(place);
}

bool refuse_statement(Context& c, Range range, std::string message, std::string help) {
    c.report(kUnsupportedStatement, range, std::move(message)).with_help(std::move(help));
    return false;
}

// --- Static lists and dicts

constexpr std::string_view kChangeOutside = "use a tensor or a sequence, or change it outside";

// The places of a slice of a list; nothing after a diagnostic.
std::optional<RangeObject> slice_of(Context& c, const ItemPlace& place) {
    auto size = static_cast<int64_t>(place.container.items().size());
    std::optional<RangeObject> chosen = slice_range(place.index.get<SliceObject>(), size);
    if (!chosen) {
        c.report(kStaticRequired, place.expr->index->range,
                 "a slice of a static list with bounds that are not")
            .with_help("use integers, and a step other than 0");
    }
    return chosen;
}

void change_list(Context& c, const Object& list, std::vector<Object> items) {
    log_replacement(c, list);
    list.items() = std::move(items);
}

// xs[a:b] = values: other items, of any number where the step is 1.
bool set_slice(Context& c, const ItemPlace& place, const Object& value, Range value_range) {
    std::optional<RangeObject> chosen = slice_of(c, place);
    std::optional<std::vector<Object>> more = chosen ? static_items(c, value) : std::nullopt;
    if (!more) {
        return chosen.has_value() &&
               refuse_statement(
                   c, value_range,
                   fmt::format("{} is assigned to a slice of a list", kind_name(value)),
                   "assign a list or tuple whose length is known");
    }
    if (std::any_of(more->begin(), more->end(),
                    [&place](const Object& one) { return holds(one, place.container); })) {
        c.report(kStaticError, value_range, "a list is put into itself")
            .with_help("put in a copy of it");
        return false;
    }
    std::vector<Object> items = place.container.items();
    if (chosen->step == 1) {
        auto begin = items.begin() + static_cast<std::ptrdiff_t>(chosen->start);
        auto end = begin + static_cast<std::ptrdiff_t>(chosen->size());
        items.insert(items.erase(begin, end), more->begin(), more->end());
    } else if (static_cast<int64_t>(more->size()) != chosen->size()) {
        c.report(kStaticError, value_range,
                 fmt::format("{} items are assigned to a slice with a step that selects {}",
                             more->size(), chosen->size()))
            .with_help("assign as many items as the slice selects");
        return false;
    } else {
        for (size_t i = 0; i < more->size(); ++i) {
            int64_t at = chosen->start + static_cast<int64_t>(i) * chosen->step;
            items[static_cast<size_t>(at)] = (*more)[i];
        }
    }
    change_list(c, place.container, std::move(items));
    return true;
}

// del xs[a:b]
void delete_slice(Context& c, const ItemPlace& place) {
    std::optional<RangeObject> chosen = slice_of(c, place);
    if (!chosen) {
        return;
    }
    const std::vector<Object>& items = place.container.items();
    std::vector<bool> goes(items.size());
    for (int64_t i = 0; i < chosen->size(); ++i) {
        goes[static_cast<size_t>(chosen->start + i * chosen->step)] = true;
    }
    std::vector<Object> kept;
    for (size_t i = 0; i < items.size(); ++i) {
        if (!goes[i]) {
            kept.push_back(items[i]);
        }
    }
    change_list(c, place.container, std::move(kept));
}

bool set_in_list(Context& c, const ItemPlace& place, const Object& value, Range value_range) {
    std::vector<Object>& items = place.container.items();
    if (place.index.is(ObjectKind::kSlice)) {
        return set_slice(c, place, value, value_range);
    }
    std::optional<size_t> i =
        list_index(c, place.container, place.index, items.size(), place.expr->index->range);
    if (!i) {
        return false;
    }
    if (holds(value, place.container)) {
        c.report(kStaticError, value_range, "a list is put into itself")
            .with_help("put in a copy of it");
        return false;
    }
    if (has_cells(c, place.container)) {
        change_item(c, place.container, Object::integer(static_cast<int64_t>(*i)), value);
        return true;
    }
    log_change(c, place.container,
               [i = *i, before = items[*i]](const Object& list) { list.items()[i] = before; });
    items[*i] = value;
    return true;
}

bool set_in_dict(Context& c, const ItemPlace& place, const Object& value, Range value_range) {
    if (!check_key(c, place.index, place.expr->index->range)) {
        return false;
    }
    if (holds(value, place.container)) {
        c.report(kStaticError, value_range, "a dict is put into itself")
            .with_help("put in a copy of it");
        return false;
    }
    if (has_cells(c, place.container)) {
        change_item(c, place.container, place.index, value);
        return true;
    }
    DictObject& dict = place.container.get<DictObject>();
    const Object* found = dict.find(place.index);
    Object old = found != nullptr ? *found : Object::error();
    log_change(c, place.container, [key = place.index, before = old](const Object& object) {
        DictObject& changed = object.get<DictObject>();
        if (before.is_error()) {
            changed.items.pop_back();
        } else {
            changed.set(key, before);
        }
    });
    dict.set(place.index, value);
    return true;
}

// --- Tensors and sequences

// The tensor with these items changed; null after an error.
ir::Value* updated_tensor(Context& c, ir::Value* tensor, const ItemPlace& place,
                          const Object& value, Range value_range) {
    auto items = subscript_items(c, place.index, place.expr->index);
    ir::Value* update =
        items ? as_value(c, value, value_range, tensor->type.element_type(), tensor) : nullptr;
    if (update == nullptr) {
        return nullptr;
    }
    Range ranges[] = {place.expr->value->range, place.expr->index->range, value_range};
    Emitter e(c, place.expr->range, ranges);
    return lowering::lower_item_assignment(e, tensor, std::move(*items), update);
}

// An ONNX sequence is a list: the item is taken out, and the new one put in its place.
ir::Value* updated_sequence(Context& c, ir::Value* sequence, const ItemPlace& place,
                            const Object& value, Range value_range) {
    ir::Value* item = as_value(c, value, value_range);
    ir::Value* at = item != nullptr
                        ? as_value(c, place.index, place.expr->index->range, ElementType::kInt64)
                        : nullptr;
    if (at == nullptr) {
        return nullptr;
    }
    Emitter e(c, place.expr->range);
    ir::Value* rest = e.emit("SequenceErase", {sequence, at});
    if (place.index.is_integer() && place.index.as_int() == -1) {
        return e.emit("SequenceInsert", {rest, item});
    }
    // One from the end less: that item is out already.
    if (!place.index.is_integer() || place.index.as_int() < 0) {
        ir::Value* zero = e.int64_scalar(0);
        at = e.emit("Where", {e.emit("Less", {at, zero}),
                              e.emit("Add", {at, e.emit("SequenceLength", {sequence})}), at});
    }
    return e.emit("SequenceInsert", {rest, item, at});
}

bool write(Context& c, const ItemPlace& place, const Object& value, Range value_range);

// Whether what the index selects shares the tensor's elements to NumPy.
bool is_view(const Object& index) {
    if (index.is(ObjectKind::kTuple)) {
        return std::all_of(index.items().begin(), index.items().end(), is_view);
    }
    if (index.is_tensor()) {
        const Type& type = index.value()->type;
        return is_integer(type.element_type()) && type.has_shape() && type.shape().empty();
    }
    return index.is(ObjectKind::kInt) || index.is(ObjectKind::kSlice) || index.is_none() ||
           index.is(ObjectKind::kEllipsis);
}

bool has_unknown_rank(const Object& index) {
    if (index.is(ObjectKind::kTuple)) {
        return std::any_of(index.items().begin(), index.items().end(), has_unknown_rank);
    }
    return index.is_tensor() && !index.value()->type.has_shape();
}

// Puts the new tensor where the old one stood.
bool put_back(Context& c, const ItemPlace& place, const ir::Value* before, ir::Value* after) {
    const auto* name = syntax::maybe_as<syntax::NameExpr>(place.expr->value);
    bool in_list = place.outer != nullptr;
    if (in_list && place.outer->container.is_tensor() &&
        place.outer->container.value()->type.kind() != TypeKind::kSequence) {
        // x[i][j] = v: a part that integers and slices select is a view of the tensor.
        if (is_view(place.outer->index)) {
            return write(c, *place.outer, Object::tensor(after), place.expr->range);
        }
        const char* way_out = "give both indices in one pair of brackets: `x[i, j] = v`";
        return has_unknown_rank(place.outer->index)
                   ? refuse_statement(
                         c, place.expr->range,
                         fmt::format("an assignment to items of `{}`, which is a copy where the "
                                     "index has several elements, and its rank is not known",
                                     c.source(place.expr->value->range)),
                         way_out)
                   : refuse_statement(c, place.expr->range,
                                      "an assignment to items of what a mask or a list of indices "
                                      "selects, which is a copy",
                                      way_out);
    }
    if (!in_list && name == nullptr) {
        return refuse_statement(c, place.expr->value->range,
                                "an assignment to an item of something without a name",
                                "bind the tensor to a name first");
    }
    if (name != nullptr && c.at.scope->find(name->name) == nullptr) {
        return refuse_statement(
            c, place.expr->range,
            fmt::format("an assignment to an item of `{}`, which is a name outside this function",
                        c.text(name->name)),
            "pass it as a parameter, and return it changed");
    }
    if (is_in_generator(c)) {
        return refuse_statement(c, place.expr->range,
                                "an assignment to an item of a tensor in a generator, which may "
                                "have given it before",
                                "make a new tensor, as with `op.ScatterND`");
    }
    const Expr* root = place.expr->value;
    while (const auto* inner = syntax::maybe_as<SubscriptExpr>(root)) {
        root = inner->value;
    }
    const auto* root_name = syntax::maybe_as<syntax::NameExpr>(root);
    std::vector<CallerName> callers;
    std::optional<std::string> other = other_holder(
        c, before, root_name != nullptr ? root_name->name : Symbol{},
        in_list ? Changed::kTensorInList : Changed::kTensor, place.expr->range.end, callers);
    if (other) {
        std::string target(c.source(place.expr->value->range));
        c.report(kAliasedItemAssignment, place.expr->range,
                 fmt::format("`{}` may be the same tensor as `{}`, which Python would change too",
                             *other, target))
            .with_help(fmt::format("copy the tensor before, as in `{} = op.Identity({})`", target,
                                   target));
        return false;
    }
    if (in_list) {
        return write(c, *place.outer, Object::tensor(after), place.expr->range);
    }
    for (const CallerName& one : callers) {
        one.scope->set(one.name, Object::tensor(after));
    }
    return assign(c, name, Object::tensor(after), place.expr->range);
}

// Slices and shapes of an array of NumPy are views of it: what is assigned to items of one is in
// the other, too, and which of them share elements is not followed here.
bool refuse_array(Context& c, const ItemPlace& place) {
    std::string_view target = c.source(place.expr->value->range);
    return refuse_statement(
        c, place.expr->range,
        "an assignment to an item of an array, which changes it for all that share its elements",
        fmt::format("make it a tensor first, as in `y = op.Identity({})`", target));
}

// One item of what is from outside of a branch or loop is changed there as a cell.
bool may_change_item(Context& c, const ItemPlace& place) {
    bool is_cell = has_cells(c, place.container) && !is_foreign(c, place.container) &&
                   !place.index.is(ObjectKind::kSlice);
    return is_cell ? is_certain_to_change(c, place.container, place.expr->range)
                   : may_change(c, place.container, place.expr->range, kChangeOutside);
}

bool write(Context& c, const ItemPlace& place, const Object& value, Range value_range) {
    const Object& container = place.container;
    switch (container.kind()) {
        case ObjectKind::kList:
            return may_change_item(c, place) && set_in_list(c, place, value, value_range);
        case ObjectKind::kDict:
            return may_change_item(c, place) && set_in_dict(c, place, value, value_range);
        case ObjectKind::kTensor: {
            if (container.is_array_part()) {
                return refuse_array(c, place);
            }
            if (!is_certain_to_change(c, container, place.expr->range)) {
                return false;
            }
            ir::Value* before = container.value();
            ir::Value* after = before->type.kind() == TypeKind::kSequence
                                   ? updated_sequence(c, before, place, value, value_range)
                                   : updated_tensor(c, before, place, value, value_range);
            return after != nullptr && put_back(c, place, before, after);
        }
        case ObjectKind::kConstant:
            if (c.runs_file) {
                Object array = value.is_sequence() ? array_from(c, value, value_range) : value;
                return !array.is_error() &&
                       set_array_item(c, container, place.index, array, place.expr->range);
            }
            return refuse_array(c, place);
        default:
            return refuse_statement(
                c, place.expr->range,
                fmt::format("an assignment to an item of {}", kind_name(container)),
                "assign to items of tensors, lists and dicts");
    }
}

}  // namespace

bool assign_item(Context& c, const SubscriptExpr* target, const Object& value, Range value_range) {
    std::unique_ptr<ItemPlace> place = resolve(c, target);
    return place != nullptr && write(c, *place, value, value_range);
}

void augment_item(Context& c, const syntax::AugAssignStmt* statement) {
    std::unique_ptr<ItemPlace> place = resolve(c, syntax::as<SubscriptExpr>(statement->target));
    if (place == nullptr) {
        return;
    }
    // NumPy changes what an index selects of an array, and assigns it to the array.
    bool is_of_array = c.runs_file && place->container.is(ObjectKind::kConstant);
    Object before = is_of_array ? array_copy(c, place->container, place->index, place->expr->range)
                                : read_place(c, *place);
    Object value = before.is_error() ? before : eval(c, statement->value);
    Object after = binary(c, statement->op, {before, statement->target->range},
                          {value, statement->value->range}, statement->range);
    if (value.is_error() || after.is_error()) {
        return;
    }
    // A slice of a list is a list of its own: what it has become is assigned to the slice.
    bool is_new = is_left_to_right(c, statement->op, before, value);
    bool is_part = place->index.is(ObjectKind::kSlice) && place->container.is(ObjectKind::kList);
    constexpr int kHolders = 3;  // `before`, the list around it, and its copy for a branch
    // A tuple takes nothing, not even what it holds already.
    is_part = is_part || is_new || place->container.is(ObjectKind::kTuple);
    bool is_changed = !is_part && changes_in_place(c, before, after, statement->range, kHolders);
    if (!is_changed || is_of_array) {
        write(c, *place, is_changed ? before : after, statement->range);
    }
}

void delete_item(Context& c, const SubscriptExpr* target) {
    std::unique_ptr<ItemPlace> place = resolve(c, target);
    if (place == nullptr) {
        return;
    }
    const Object& container = place->container;
    if (!container.is(ObjectKind::kList) && !container.is(ObjectKind::kDict)) {
        bool is_made = is_sequence_value(container) || container.is_numbers();
        refuse_statement(
            c, target->range,
            fmt::format("`del` of an item of {}",
                        is_made ? "a list that the graph makes" : kind_name(container)),
            is_made ? "append what is left to another list, in a loop"
                    : "select what is left by a slice or a mask");
        return;
    }
    if (!may_change(c, container, target->range, kChangeOutside)) {
        return;
    }
    if (container.is(ObjectKind::kList)) {
        if (place->index.is(ObjectKind::kSlice)) {
            delete_slice(c, *place);
            return;
        }
        std::vector<Object> items = container.items();
        std::optional<size_t> i =
            list_index(c, container, place->index, items.size(), target->index->range);
        if (i) {
            items.erase(items.begin() + static_cast<std::ptrdiff_t>(*i));
            change_list(c, container, std::move(items));
        }
        return;
    }
    DictObject& dict = container.get<DictObject>();
    if (read_place(c, *place).is_error()) {
        return;  // no such key
    }
    log_replacement(c, container);
    dict.items.erase(std::find_if(dict.items.begin(), dict.items.end(), [&place](const auto& item) {
        return equal(item.first, place->index);
    }));
}

}  // namespace sardonyx::elaborate
