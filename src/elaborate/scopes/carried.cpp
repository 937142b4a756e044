#include "elaborate/scopes/carried.h"

#include <fmt/format.h>

#include <algorithm>

#include "elaborate/emit/as_value.h"
#include "elaborate/emit/constants.h"
#include "elaborate/emit/emit.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/emit/sequences.h"
#include "elaborate/emit/values.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/dict_classes.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/type_text.h"
#include "elaborate/objects/unknowns.h"
#include "elaborate/scopes/branch.h"
#include "elaborate/scopes/instances.h"
#include "elaborate/scopes/joined_kinds.h"
#include "elaborate/scopes/merge.h"
#include "infer/filled_sequences.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

constexpr int kRoundsWithRank = 3;  // after so many, a changing shape is given up

bool flatten_like(const Object& structure, const Object& object, bool has_items,
                  std::vector<Object>& leaves);

bool flatten_dict(const DictObject& structure, const DictObject& dict, bool has_items,
                  std::vector<Object>& leaves) {
    bool is_alike = structure.items.size() == dict.items.size();
    for (size_t i = 0; is_alike && i < dict.items.size(); ++i) {
        const auto& [key, value] = structure.items[i];
        is_alike = same_key(key, dict.items[i].first) &&
                   flatten_like(value, dict.items[i].second, has_items, leaves);
    }
    return is_alike;
}

bool flatten_like(const Object& structure, const Object& object, bool has_items,
                  std::vector<Object>& leaves) {
    if (!is_taken_apart(structure, has_items)) {
        leaves.push_back(object);
        return true;
    }
    if (structure.is(ObjectKind::kDict)) {
        return object.is(ObjectKind::kDict) &&
               are_of_one_class(object.get<DictObject>(), structure.get<DictObject>()) &&
               flatten_dict(structure.get<DictObject>(), object.get<DictObject>(), has_items,
                            leaves);
    }
    if (object.kind() != structure.kind() || object.tuple_class() != structure.tuple_class() ||
        object.items().size() != structure.items().size()) {
        return false;
    }
    for (size_t i = 0; i < structure.items().size(); ++i) {
        if (!flatten_like(structure.items()[i], object.items()[i], has_items, leaves)) {
            return false;
        }
    }
    return true;
}

}  // namespace

std::optional<std::vector<Object>> leaves_like(const Object& structure, const Object& object,
                                               bool has_items) {
    std::vector<Object> leaves;
    return flatten_like(structure, object, has_items, leaves) ? std::optional(std::move(leaves))
                                                              : std::nullopt;
}

void note_choices(Context& c, const Object& copy, const Object& object) {
    note_choice(c, copy, object);
    bool is_dict = copy.is(ObjectKind::kDict);
    size_t size = is_dict              ? copy.get<DictObject>().items.size()
                  : copy.is_sequence() ? copy.items().size()
                                       : 0;
    for (size_t i = 0; i < size; ++i) {
        if (is_dict) {
            note_choices(c, copy.get<DictObject>().items[i].second,
                         object.get<DictObject>().items[i].second);
        } else if (copy.items()[i].kind() == object.items()[i].kind()) {
            note_choices(c, copy.items()[i], object.items()[i]);
        }
    }
}

void note_twins(Context& c, const std::vector<Carried>& carried) {
    for (const Carried& one : carried) {
        for (Symbol twin : one.twins) {
            note_instances(c, *find_value(c, one.name), *find_value(c, twin));
        }
    }
}

void claim_parts(Context& c, const Object& object) {
    if (object.is(ObjectKind::kList) || object.is(ObjectKind::kDict)) {
        claim(c, object);
    }
    if (object.is_sequence() || object.is(ObjectKind::kDict)) {
        each_part(object, [&c](const Object& part) { claim_parts(c, part); });
    }
}

Object carried_as(const Object& before, const Slot& slot, ir::Value* value) {
    bool is_mixed = is_python_number(before) || before.is_tensor_or_number() ||
                    before.is_array_part() || before.is(ObjectKind::kConstant);
    return slot.is_numbers  ? Object::numbers(value)
           : slot.is_number ? Object::number(value)
           : is_mixed       ? Object::tensor_or_number(value)
                            : Object::tensor(value);
}

bool stays_static(const Object& leaf) {
    switch (leaf.kind()) {
        case ObjectKind::kString:
        case ObjectKind::kNone:
        case ObjectKind::kElementType:
        case ObjectKind::kOpset:
        case ObjectKind::kOperator:
        case ObjectKind::kScript:
        case ObjectKind::kClosure:
        case ObjectKind::kBuiltin:
            return true;
        default:
            return false;
    }
}

bool can_carry(const Object& object, bool has_items) {
    bool all = true, any = false;
    bool is_taken = is_taken_apart(object, has_items);
    map_leaves(object, has_items, [&](const Object& leaf) {
        bool is_value = (is_leaf(leaf) || leaf.is_numbers()) && !leaf.is(ObjectKind::kString) &&
                        !leaf.is_shape_tensor();
        all = all && (is_value || (is_taken && stays_static(leaf)));
        any = any || is_value;
        return leaf;
    });
    return all && (any || !is_taken || (object.is(ObjectKind::kTuple) && object.items().empty()));
}

Carried make_carried(Symbol name, const Object& before, bool has_items) {
    Carried one{name, before, {}};
    one.has_items = has_items;
    map_leaves(before, has_items, [&one](const Object& leaf) {
        Slot slot;
        slot.init = leaf;
        slot.type = leaf.is_tensor() ? leaf.value()->type : Type();
        slot.is_literal = !leaf.is_tensor() && !leaf.is_numbers();
        slot.is_numbers = leaf.is_numbers();
        if (slot.is_numbers && !is_open_list(leaf)) {
            slot.type = Type::tensor(leaf.value()->type.element_type(), Shape{Dim()});
        }
        slot.is_number = is_python_number(leaf);
        slot.is_either = leaf.is_either();
        one.slots.push_back(std::move(slot));
        return leaf;
    });
    return one;
}

namespace {

Slot numbers_slot(ir::Value* init) {
    Slot slot{Object::numbers(init), Type::tensor(init->type.element_type(), Shape{Dim()}), false,
              false};
    slot.is_numbers = true;
    return slot;
}

// A list that starts with Python's numbers.
std::optional<Carried> make_numbers(Context& c, Carried one, const Object& list, Range range) {
    std::optional<ElementType> type = type_of_numbers(list);
    if (!type) {
        c.report(kUnsupportedOperand, range,
                 "ints, floats or bools in one list that grows in the graph")
            .with_help("give all items one type, as by `float(n)`");
        return std::nullopt;
    }
    ir::Value* start = as_value(c, list, range, *type);
    if (start != nullptr) {
        one.slots[0] = numbers_slot(start);
    }
    return start != nullptr ? std::optional(std::move(one)) : std::nullopt;
}

}  // namespace

std::optional<Carried> make_list(Context& c, Symbol name, const Object& list, Range range) {
    Carried one{name, Object::none(), {Slot()}, true};
    Slot& slot = one.slots[0];
    slot.init = Object::none();
    slot.type = Type();
    slot.is_literal = slot.is_number = false;
    slot.is_numbers = true;
    if (is_shared(c, list)) {
        c.report(kUnsupportedStatement, range,
                 "a list that has a second name grows in a loop that runs in the graph")
            .with_help("give the loop a list of its own, as in `xs = list(xs)`");
        return std::nullopt;
    }
    if (list.items().empty()) {
        return one;
    }
    if (may_be_numbers(list)) {
        return make_numbers(c, one, list, range);
    }
    slot.is_numbers = false;
    Emitter e(c, range);
    ir::Value* sequence = nullptr;
    for (const Object& item : list.items()) {
        ir::Value* value = is_leaf(item) ? as_value(c, item, range) : nullptr;
        if (value == nullptr) {
            c.report(kUnsupportedOperand, range,
                     fmt::format("{} among the items of a list that grows in the graph",
                                 kind_name(item)))
                .with_help("put tensors or numbers of one type into it");
            return std::nullopt;
        }
        sequence = sequence == nullptr ? e.emit("SequenceConstruct", {value})
                                       : e.emit("SequenceInsert", {sequence, value});
    }
    slot.init = as_object(sequence);
    slot.type = sequence != nullptr ? sequence->type : Type();
    return sequence != nullptr ? std::optional(one) : std::nullopt;
}

Object empty_numbers(Context& c, const Type& type, Range range) {
    Result<Tensor> nothing = tensor_from_int64s(type.element_type(), {0}, {});
    return Object::numbers(emit_constant(c, std::move(*nothing), range));
}

Object empty_sequence(Context& c, const Type& type, Range range) {
    ir::Value* value = Emitter(c, range).emit(
        "SequenceEmpty", {},
        {ir::make_attribute("dtype", static_cast<int64_t>(type.element().element_type()))});
    return as_object(value);
}

bool same_start(const std::vector<Carried>& a, const std::vector<Carried>& b) {
    auto same_slot = [](const Slot& x, const Slot& y) {
        return x.is_literal == y.is_literal && x.is_number == y.is_number && x.type == y.type &&
               x.is_either == y.is_either && x.is_numbers == y.is_numbers &&
               (!x.is_literal || identical(x.init, y.init));
    };
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(), [&same_slot](const Carried& x, const Carried& y) {
            return x.name == y.name && std::equal(x.slots.begin(), x.slots.end(), y.slots.begin(),
                                                  y.slots.end(), same_slot);
        });
}

bool promote(Context& c, const Carried& one, Slot& slot, const Object& result, Range range) {
    if (result.is_tensor() && result.value()->type.element_type() == ElementType::kUndefined) {
        c.report(kStaticRequired, range,
                 fmt::format("`{}` starts as `{}`, and the element type that the loop gives it is "
                             "not known",
                             name_text(c, one.name), repr(slot.init)))
            .with_help("start from a tensor, as in `op.CastLike(0, x)`, or annotate the inputs");
        return false;
    }
    if (slot.init.is(ObjectKind::kList) && may_be_numbers(slot.init) && may_be_numbers(result)) {
        std::optional<Carried> list =
            make_numbers(c, Carried{one.name, {}, {Slot()}}, slot.init, range);
        slot = list ? std::move(list->slots[0]) : slot;
        return list.has_value();
    }
    slot.is_either = slot.is_either || (is_leaf(result) && is_either_of(slot.init, result));
    ElementType type = is_leaf(result)
                           ? common_type(slot.init, result).value_or(ElementType::kUndefined)
                           : ElementType::kUndefined;
    ir::Value* value =
        refuse_rounding(c, slot.init, type, range) ? nullptr : as_value(c, slot.init, range, type);
    if (value == nullptr) {
        return false;
    }
    slot.is_number = slot.is_number && is_python_number(result);
    slot.is_fixed = false;
    slot.init = slot.is_number ? Object::number(value) : Object::tensor(value);
    slot.type = value->type;
    return true;
}

namespace {

bool is_bound_list(const Object& object) {
    return object.is_tensor() && object.value()->type.kind() == TypeKind::kSequence;
}

Fit refuse_types(Context& c, const Carried& one, const Slot& slot, const Object& result,
                 Range range) {
    c.report(kBranchTypeMismatch, range,
             fmt::format("`{}` is `{}` before the loop and {} after an iteration",
                         name_text(c, one.name), type_text(slot.type), describe(result)))
        .with_help("cast it, so that its element type stays the same");
    return Fit::kNo;
}

// A list of whose items nothing is known in the end.
Fit refuse_list(Context& c, const Carried& one, const Object& result, Range range) {
    c.report(kBranchTypeMismatch, range,
             is_bound_list(result)
                 ? fmt::format("the type of the items of `{}` is not known", name_text(c, one.name))
                 : fmt::format("`{}` is a list before the loop and {} after an iteration",
                               name_text(c, one.name), kind_name(result)))
        .with_help("append tensors of one type, and annotate the inputs");
    return Fit::kNo;
}

// A list of numbers, or one of whose items nothing is known yet.
Fit fit_numbers(Context& c, const Carried& one, Slot& slot, const Object& result, Range range) {
    ElementType items = may_be_numbers(result)
                            ? type_of_numbers(result).value_or(ElementType::kUndefined)
                            : ElementType::kUndefined;
    bool is_known = items != ElementType::kUndefined;
    if (slot.is_numbers && slot.init.is_numbers() && result.is(ObjectKind::kList) &&
        result.items().empty()) {
        return Fit::kYes;
    }
    bool is_open = slot.init.is_none() || is_open_list(slot.init);
    if (is_open && is_open_list(result) && !one.is_list) {
        return Fit::kYes;
    }
    if (is_open && slot.is_numbers && slot.type.element_type() != ElementType::kUndefined) {
        is_open = false;
    }
    if (is_open && is_known) {
        slot = numbers_slot(empty_numbers(c, Type::tensor(items, Shape{Dim()}), range).value());
        return Fit::kWider;
    }
    if (is_open && is_bound_list(result) &&
        result.value()->type.element().element_type() != ElementType::kUndefined) {
        slot.is_numbers = false;
        slot.type = result.value()->type;
        slot.init = empty_sequence(c, slot.type, range);
        return slot.init.is_error() ? Fit::kNo : Fit::kWider;
    }
    if (is_open || !is_known) {
        return refuse_list(c, one, result, range);
    }
    return slot.is_numbers && items == slot.type.element_type()
               ? Fit::kYes
               : refuse_types(c, one, slot, result, range);
}

// A slot of Python's numbers: its type grows as Python's does.
Fit fit_number(Context& c, const Carried& one, Slot& slot, const Object& result, Range range) {
    ElementType type = common_type(slot.init, result).value_or(ElementType::kUndefined);
    bool stays_number = is_python_number(result);
    if (stays_number && type == slot.type.element_type()) {
        return Fit::kYes;
    }
    if (!result.is_tensor() && !stays_number) {
        return refuse_types(c, one, slot, result, range);
    }
    ir::Value* value = as_typed_value(c, slot.init, type, range);
    if (value == nullptr) {
        return Fit::kNo;
    }
    slot.is_number = stays_number;
    slot.init = stays_number ? Object::number(value) : Object::tensor(value);
    slot.type.set_element_type(type);
    return Fit::kWider;
}

Fit fit_type(Context& c, const Carried& one, Slot& slot, const Object& result, int rounds,
             Range range);

}  // namespace

std::string_view name_text(Context& c, Symbol name) {
    return is_cell(name)   ? cell_text(c, name)
           : is_flag(name) ? std::string_view("items")
                           : c.text(name);
}

Fit fit(Context& c, const Carried& one, Slot& slot, const Object& result, int rounds, Range range) {
    bool was_either = slot.is_either;
    slot.is_either = was_either || (is_leaf(result) && is_either_of(slot.init, result));
    Fit outcome = fit_type(c, one, slot, result, rounds, range);
    return outcome == Fit::kYes && slot.is_either != was_either ? Fit::kWider : outcome;
}

namespace {

Fit fit_type(Context& c, const Carried& one, Slot& slot, const Object& result, int rounds,
             Range range) {
    if (result.is_error() ||
        (result.is(ObjectKind::kUnbound) && result.get<Unbound>().reason.empty())) {
        return Fit::kNo;
    }
    if (slot.is_fixed) {
        // What others became may have changed it: then it is carried like them.
        if (identical(slot.init, result)) {
            return Fit::kYes;
        }
        return promote(c, one, slot, result, range) ? Fit::kWider : Fit::kNo;
    }
    if (slot.is_numbers || result.is_numbers()) {
        return fit_numbers(c, one, slot, result, range);
    }
    if (slot.type.kind() == TypeKind::kSequence && result.is_tensor() &&
        result.value()->type.kind() == TypeKind::kSequence &&
        slot.type.element().element_type() == ElementType::kUndefined &&
        result.value()->type.element().element_type() != ElementType::kUndefined) {
        slot.type = result.value()->type;
        slot.init = slot.init.is_tensor() ? slot.init : empty_sequence(c, slot.type, range);
        return slot.init.is_error() ? Fit::kNo : Fit::kWider;
    }
    if (one.is_list && !slot.init.is_tensor()) {
        return refuse_list(c, one, result, range);
    }
    if (slot.is_number && is_leaf(result)) {
        Fit outcome = fit_number(c, one, slot, result, range);
        if (outcome != Fit::kYes || !result.is_tensor()) {
            return outcome;
        }
    }
    if (!result.is_tensor()) {
        if (!can_carry(result)) {
            c.report(kBranchTypeMismatch, range,
                     fmt::format("`{}` is a tensor before the loop and {} after an iteration",
                                 name_text(c, one.name), kind_name(result)))
                .with_help("keep it a tensor");
            return Fit::kNo;
        }
        return Fit::kYes;  // output_of() makes it a constant of the carried type
    }
    const Type& after = result.value()->type;
    ElementType was = slot.type.element_type(), is = after.element_type();
    if (!is_python_number(result) && slot.type.is_known() && after.is_known() &&
        (slot.type.kind() != after.kind() ||
         (was != is && was != ElementType::kUndefined && is != ElementType::kUndefined))) {
        return refuse_types(c, one, slot, result, range);
    }
    Type wider = join(slot.type, after);
    if (is_python_number(result) && wider.is_tensor()) {
        wider.set_element_type(was);  // output_of() casts it
    }
    if (rounds >= kRoundsWithRank && wider.is_tensor() && !(wider == slot.type)) {
        wider.set_shape(std::nullopt);
    }
    if (wider == slot.type) {
        return Fit::kYes;
    }
    slot.type = std::move(wider);
    if (after.has_shape()) {
        slot.from = result.value()->span;
    }
    return Fit::kWider;
}

}  // namespace

bool fill_sequence(Slot& slot, const Object& result, const ir::Value* before) {
    bool is_sequence = before != nullptr && slot.init.is_tensor() && result.is_tensor() &&
                       infer::is_empty_sequence(slot.init.value()) &&
                       result.value()->type.kind() == TypeKind::kSequence;
    Type filled = is_sequence ? infer::filled_sequence(*result.value(), *before) : Type();
    bool is_other = filled.is_known() &&
                    filled.element().element_type() == slot.type.element().element_type() &&
                    !(filled == slot.type);
    if (is_other) {
        slot.type = std::move(filled);
    }
    return is_other;
}

std::string uncarried(const Object& before) {
    return fmt::format("is {} before the loop, and a loop carries tensors and numbers only",
                       kind_name(before));
}

bool is_bound(const Object* object) {
    return object != nullptr && !object->is_error() && !object->is(ObjectKind::kUnbound);
}

bool has_failed(const Object* object) {
    return object != nullptr && object->is(ObjectKind::kUnbound) &&
           object->get<Unbound>().reason.empty();
}

}  // namespace sardonyx::elaborate
