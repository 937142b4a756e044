// Joins two branches into an If node.
//
// Every name that the branches leave with different values becomes an output of the node. Values
// are joined part by part: tuples and lists of the same length item by item, static values as
// constants. A number that Python holds takes the type of what it meets.
#include "elaborate/scopes/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "elaborate/emit/emit.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/emit/opsets.h"
#include "elaborate/emit/sequences.h"
#include "elaborate/emit/values.h"
#include "elaborate/flow/block_facts.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/dict_classes.h"
#include "elaborate/objects/owners.h"
#include "elaborate/operators/truth.h"
#include "elaborate/scopes/branch.h"
#include "elaborate/scopes/carried.h"
#include "elaborate/scopes/flags.h"
#include "elaborate/scopes/held_values.h"
#include "elaborate/scopes/inlined_if.h"
#include "elaborate/scopes/instances.h"
#include "elaborate/scopes/joined_kinds.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

// Calls `leaf(a, b)` for the places where two objects of the same structure differ; nothing when
// their structures differ. Same order of calls for the same objects.
template <typename Leaf>
std::optional<Object> join_objects(const Object& a, const Object& b, Leaf&& leaf) {
    // Two lists with the same items are two: what is chosen of them is a third.
    if (identical(a, b) && (a.pointer() == b.pointer() || !holds_open(a))) {
        return a;
    }
    if (a.is_sequence() && a.kind() == b.kind() && a.tuple_class() == b.tuple_class() &&
        a.items().size() == b.items().size() && (!a.items().empty() || identical(a, b))) {
        std::vector<Object> items;
        for (size_t i = 0; i < a.items().size(); ++i) {
            std::optional<Object> item = join_objects(a.items()[i], b.items()[i], leaf);
            if (!item) {
                return std::nullopt;
            }
            items.push_back(std::move(*item));
        }
        return a.with_items(std::move(items));
    }
    if (a.is(ObjectKind::kDict) && b.is(ObjectKind::kDict)) {
        const auto &left = a.get<DictObject>().items, &right = b.get<DictObject>().items;
        DictObject dict = emptied(a.get<DictObject>());
        for (size_t i = 0; i < left.size() && left.size() == right.size(); ++i) {
            std::optional<Object> item = identical(left[i].first, right[i].first)
                                             ? join_objects(left[i].second, right[i].second, leaf)
                                             : std::nullopt;
            if (!item) {
                return std::nullopt;
            }
            dict.set(left[i].first, std::move(*item));
        }
        return left.size() == right.size() &&
                       are_of_one_class(a.get<DictObject>(), b.get<DictObject>())
                   ? std::optional(Object::dict(std::move(dict)))
                   : std::nullopt;
    }
    if (are_numbers(a, b) || (is_leaf(a) && is_leaf(b)) || are_sequences(a, b)) {
        return leaf(a, b);
    }
    return std::nullopt;
}

}  // namespace

ir::Value* output_of(Context& c, ir::Graph* graph, const Object& object, ElementType type,
                     Range range) {
    ir::Graph* outer = c.graph;
    c.graph = graph;
    ir::Value* value = as_typed_value(c, object, type, range);
    bool foreign = value != nullptr && (value->graph() != graph || value->producer() == nullptr);
    bool repeated = value != nullptr && std::find(graph->outputs.begin(), graph->outputs.end(),
                                                  value) != graph->outputs.end();
    if (foreign || repeated) {
        // A graph's output must be made inside it, and each but once.
        value = Emitter(c, range).emit("Identity", {value});
    }
    c.graph = outer;
    if (value != nullptr) {
        graph->outputs.push_back(value);
    }
    return value;
}

namespace {

// An empty list that meets another one has items of the other's type.
void name_items(ir::Value* output, const Object& x, const Object& y) {
    for (const Object* side : {&x, &y}) {
        if (side->is_tensor() && side->value()->type.kind() == TypeKind::kSequence &&
            output->type.element().element_type() == ElementType::kUndefined) {
            output->type = side->value()->type;
        }
    }
}

// What the two branches leave behind, as outputs of one If node.
class Merge {
  public:
    Merge(Context& c, Branch& yes, Branch& no, Range range)
        : c_(c), yes_(yes), no_(no), range_(range) {}

    // Adds outputs for a pair of objects; nothing when they cannot be one value.
    std::optional<Object> plan(const Object& a, const Object& b) {
        size_t before = yes_.graph->outputs.size();
        if (are_one(a, b)) {
            return a;
        }
        if (is_changed(a) || is_changed(b)) {
            return std::nullopt;
        }
        auto leaf = [this](const Object& x, const Object& y) -> std::optional<Object> {
            if (are_numbers(x, y)) {
                std::optional<ElementType> type = type_of_numbers(x, y);
                failed_ =
                    type && (output_of(c_, yes_.graph, x, *type, range_) == nullptr ||
                             output_of(c_, no_.graph, y, *type, range_) == nullptr || failed_);
                return type ? std::optional(Object::error()) : std::nullopt;
            }
            if (is_optional_value(x) || is_optional_value(y)) {
                return plan_optional(x, y);
            }
            bool are_lists = are_sequences(x, y);
            if (!are_same_to_python(x, y)) {
                return std::nullopt;
            }
            std::optional<ElementType> type = are_lists ? item_type(x, y) : common_type(x, y);
            if (refuse_rounding(c_, x, type, range_) || refuse_rounding(c_, y, type, range_)) {
                failed_ = true;
                return Object::error();
            }
            if (!type || (are_lists && *type == ElementType::kUndefined)) {
                return std::nullopt;
            }
            if (are_lists) {
                Object left = as_sequence(yes_.graph, x, *type);
                Object right = as_sequence(no_.graph, y, *type);
                failed_ = left.is_error() || right.is_error() ||
                          output_of(c_, yes_.graph, left, *type, range_) == nullptr ||
                          output_of(c_, no_.graph, right, *type, range_) == nullptr || failed_;
                return Object::error();
            }
            if (output_of(c_, yes_.graph, x, *type, range_) == nullptr ||
                output_of(c_, no_.graph, y, *type, range_) == nullptr) {
                failed_ = true;
            }
            return Object::error();
        };
        std::optional<Object> planned = join_objects(packed(a), packed(b), leaf);
        if (!planned && !failed_) {
            yes_.graph->outputs.resize(before);
            no_.graph->outputs.resize(before);
        }
        return planned;
    }

    bool emit(ir::Value* condition) {
        made_.clear();  // it holds lists, of which others ask who holds them
        size_t count = yes_.graph->outputs.size();
        if (failed_ || count != no_.graph->outputs.size()) {
            return false;
        }
        if (count == 0) {
            return true;
        }
        OpsetObject opset = operator_opset(c_);
        import_opset(c_, opset, range_);
        NodeRequest request;
        request.op_type = "If";
        request.inputs = std::span<ir::Value* const>(&condition, 1);
        request.attributes.push_back(ir::make_attribute("then_branch", yes_.graph));
        request.attributes.push_back(ir::make_attribute("else_branch", no_.graph));
        request.output_count = count;
        request.range = range_;
        node_ = emit_node(c_, std::move(request));
        if (node_ != nullptr) {
            note_inlined_if(c_, range_);
        }
        return node_ != nullptr;
    }

    // The same pair after emit(): the joined object, with the node's outputs in its places.
    Object take(const Object& a, const Object& b) {
        if (are_one(a, b)) {
            return a;
        }
        return unpacked(
            c_, join_objects(packed(a), packed(b),
                             [this](const Object& x, const Object& y) -> std::optional<Object> {
                                 ir::Value* output = node_->output(next_++);
                                 if (are_numbers(x, y)) {
                                     output->type =
                                         Type::tensor(*type_of_numbers(x, y), Shape{Dim()});
                                     return Object::numbers(output);
                                 }
                                 name_items(output, x, y);
                                 return joined_kind(x, y, output).either(is_either_of(x, y));
                             })
                    .value_or(Object::error()));
    }

  private:
    // Whether a branch changes a part of what the object is or holds: outside of the branch it is
    // as it was before.
    bool is_changed(const Object& object) const {
        auto is_part = [&](const auto& change) {
            return is_cell(change.first) && reaches(object, owner_of_cell(c_, change.first));
        };
        bool is_open =
            object.is(ObjectKind::kModule) || object.is_sequence() || object.is(ObjectKind::kDict);
        return is_open && (std::any_of(yes_.changes.begin(), yes_.changes.end(), is_part) ||
                           std::any_of(no_.changes.begin(), no_.changes.end(), is_part));
    }

    // A value that may be absent and one that is there are one that may be absent.
    std::optional<Object> plan_optional(const Object& x, const Object& y) {
        const Type& held = (is_optional_value(x) ? x : y).value()->type.element();
        for (const Object* one : {&x, &y}) {
            const Type* type = one->is_tensor() ? &one->value()->type : nullptr;
            type = type != nullptr && is_optional_value(*one) ? &type->element() : type;
            if (type == nullptr || !is_of_kind(*type, held)) {
                return std::nullopt;
            }
        }
        ir::Value* left = optional_output(yes_.graph, x);
        ir::Value* right = optional_output(no_.graph, y);
        failed_ = left == nullptr || right == nullptr || failed_;
        return Object::error();
    }

    static bool is_of_kind(const Type& type, const Type& other) {
        return type.kind() == other.kind() &&
               (type.kind() == TypeKind::kSequence ? is_of_kind(type.element(), other.element())
                                                   : type.element_type() == other.element_type());
    }

    ir::Value* optional_output(ir::Graph* graph, const Object& object) {
        ir::Graph* outer = c_.graph;
        c_.graph = graph;
        ir::Value* value = is_optional_value(object)
                               ? object.value()
                               : Emitter(c_, range_).emit("Optional", {object.value()});
        c_.graph = outer;
        return value == nullptr ? nullptr
                                : output_of(c_, graph, Object::tensor(value),
                                            value->type.element_type(), range_);
    }

    // A list of a branch as a sequence; of an ONNX sequence itself. One list that several names
    // hold is one sequence, by which they are known to hold the same (scopes/aliases.cpp).
    Object as_sequence(ir::Graph* graph, const Object& list, ElementType type) {
        if (list.is_tensor() || list.is_numbers()) {
            return list.is_tensor() ? list : Object::tensor(list.value());
        }
        for (const Made& one : made_) {
            if (one.graph == graph && one.type == type && one.list.pointer() == list.pointer()) {
                return one.sequence;
            }
        }
        made_.push_back({graph, list, type, new_sequence(graph, list, type)});
        return made_.back().sequence;
    }

    Object new_sequence(ir::Graph* graph, const Object& list, ElementType type) {
        ir::Graph* outer = c_.graph;
        c_.graph = graph;
        Object sequence = empty_sequence(c_, Type::sequence(Type::tensor(type)), range_);
        if (!list.items().empty()) {
            std::vector<ir::Value*> items;
            for (const Object& item : list.items()) {
                items.push_back(as_typed_value(c_, item, type, range_));
            }
            sequence = as_object(Emitter(c_, range_).emit_variadic("SequenceConstruct", items));
        }
        c_.graph = outer;
        return sequence;
    }

    struct Made {
        ir::Graph* graph;
        Object list;
        ElementType type;
        Object sequence;
    };

    Context& c_;
    Branch& yes_;
    Branch& no_;
    Range range_;
    std::vector<Made> made_;
    ir::Node* node_ = nullptr;
    size_t next_ = 0;
    bool failed_ = false;
};

struct Pair {
    Symbol name;
    Object yes;
    Object no;
};

// The place where the branch binds the name, for a label; if it does not, the condition.
std::pair<diagnostics::Span, std::string> binding(Context& c, const Branch& branch, Symbol name,
                                                  const Object& object, Range condition) {
    std::optional<Range> place = last_assignment(branch.statements, name);
    return {c.span(place.value_or(condition)),
            fmt::format("{} {}", describe(object), place ? "here" : "if this does not bind it")};
}

Object conflict(Context& c, const Pair& pair, const Branch& yes, const Branch& no, Range range) {
    bool unbound = pair.yes.is_error() || pair.no.is_error() || pair.yes.is(ObjectKind::kUnbound) ||
                   pair.no.is(ObjectKind::kUnbound);
    std::string reason =
        unbound ? std::string("is bound in one branch only") : difference(pair.yes, pair.no);
    Unbound made{std::move(reason), c.span(range)};
    auto has_value = [](const Object& one) {
        return !one.is_error() && (!one.is(ObjectKind::kUnbound) || one.get<Unbound>().has_value);
    };
    made.has_value = has_value(pair.yes) && has_value(pair.no);
    if (!unbound) {
        made.bindings = {binding(c, yes, pair.name, pair.yes, range),
                         binding(c, no, pair.name, pair.no, range)};
    }
    return Object::make(ObjectKind::kUnbound, std::move(made));
}

bool failed_binding(const Object& object) {
    return object.is(ObjectKind::kUnbound) && object.get<Unbound>().reason.empty();
}

bool is_missing(const Object& object) {
    return object.is_error() || object.is(ObjectKind::kUnbound);
}

std::vector<Pair> changed_names(Context& c, const Branch& yes, const Branch& no) {
    std::vector<Pair> pairs;
    SymbolSet seen;
    for (const Branch* branch : {&yes, &no}) {
        for (const auto& change : branch->changes) {
            if (seen.insert(change.first)) {
                pairs.push_back(
                    {change.first, yes.value_of(c, change.first), no.value_of(c, change.first)});
            }
        }
    }
    return pairs;
}

// A flag that is set on one way only is the condition itself.
bool settle_flag(Context& c, ir::Value* condition, Pair& pair, Range range) {
    for (Object* side : {&pair.yes, &pair.no}) {
        *side = is_missing(*side) ? Object::boolean(false) : *side;
    }
    if (!pair.yes.is(ObjectKind::kBool) || !pair.no.is(ObjectKind::kBool)) {
        return false;
    }
    Object value = pair.yes;
    if (pair.yes.as_bool() != pair.no.as_bool()) {
        ir::Value* test = pair.yes.as_bool() ? condition : logical_not(c, condition, range);
        value = test != nullptr ? Object::tensor(test) : Object::boolean(false);
    }
    c.at.scope->set(pair.name, value);
    return true;
}

// Whether what a name holds is read after its function has returned: by the function that has
// called it, or by another one inside, which may be among its results.
bool outlives(const Context& c, Symbol name) {
    bool in_call = c.at.caller != nullptr && c.at.caller->scope != nullptr;
    return in_call && (is_cell(name) || (c.at.scope->is_closed_over && !is_flag(name)));
}

// The value of a name after a branch that has returned is not used, unless it outlives that: any
// value of the other's type.
void fill_in(Context& c, Branch& branch, Object& own, const Object& other, Range range) {
    if (is_missing(other)) {
        return;
    }
    if (std::optional<Object> filler = placeholder(c, branch.graph, packed(other), range)) {
        own = std::move(*filler);
    }
}

void fill_in(Context& c, Pair& pair, Branch& yes, Branch& no, Range range) {
    bool is_result = pair.name == kReturnedResult;
    bool is_read = outlives(c, pair.name) && !is_missing(pair.yes) && !is_missing(pair.no);
    if ((is_flag(pair.name) && !is_result) || is_read) {
        return;
    }
    if ((yes.returned && !is_result) || (is_result && is_missing(pair.yes))) {
        fill_in(c, yes, pair.yes, pair.no, range);
    } else if ((no.returned && !is_result) || (is_result && is_missing(pair.no))) {
        fill_in(c, no, pair.no, pair.yes, range);
    }
}

void report_results(Context& c, const Object& one, const Object& other, Range range,
                    Range one_range, Range other_range) {
    c.report(
         kBranchTypeMismatch, range,
         fmt::format("the function returns {} here and {} there", describe(one), describe(other)))
        .label(c.span(one_range), "one result")
        .label(c.span(other_range), "the other")
        .with_help("return the same number of results, of the same types");
}

// A name that one branch binds and the other leaves, with an optional value that is there in it:
// the branch gives what that holds, as it would give to a reader.
void take_out_held(Context& c, Pair& pair, Branch& yes, Branch& no, Range range) {
    for (Branch* branch : {&yes, &no}) {
        Object& own = branch == &yes ? pair.yes : pair.no;
        const Object& other = branch == &yes ? pair.no : pair.yes;
        if (!is_optional_value(own) || is_optional_value(other)) {
            continue;
        }
        ir::Graph* outer = c.graph;
        c.graph = branch->graph;
        HeldValues there(c, branch->held);
        own = held(c, own, range);
        c.graph = outer;
    }
}

// Plans the joined value of a cell, which is read from anywhere.
void plan_cell(Context& c, Pair& pair, Merge& joined, Range range, std::vector<Pair>& kept) {
    bool is_missed = is_missing(pair.yes) || is_missing(pair.no);
    bool is_one = !is_missed && pair.yes.kind() == pair.no.kind() &&
                  pair.yes.pointer() == pair.no.pointer() && identical(pair.yes, pair.no);
    bool is_joined =
        !is_missed && (grows(c, pair.name) || (fits_cell(pair.yes) && fits_cell(pair.no)));
    if (is_missed) {
        refuse_cell(c, pair.name, "is bound in one branch only", range);
    } else if (is_one) {
        set_value(c, pair.name, pair.yes);
    } else if (is_joined && joined.plan(pair.yes, pair.no)) {
        kept.push_back(std::move(pair));
    } else if (!is_joined) {
        refuse_cell(c, pair.name,
                    fmt::format("holds {}, which a branch of the graph replaces",
                                kind_name(fits_cell(pair.yes) ? pair.no : pair.yes)),
                    range);
    } else {
        refuse_cell(c, pair.name, difference(pair.yes, pair.no), range);
    }
}

// Plans the joined value of one; without any it is bound to the reason.
void plan_name(Context& c, Pair& pair, Merge& joined, Branch& yes, Branch& no, Range range,
               std::vector<Pair>& kept, bool is_read) {
    if (is_cell(pair.name)) {
        plan_cell(c, pair, joined, range, kept);
    } else if (failed_binding(pair.yes) || failed_binding(pair.no)) {
        c.at.scope->set(pair.name, failed_binding(pair.yes) ? pair.yes : pair.no);
    } else if (!is_read || is_missing(pair.yes) || is_missing(pair.no) ||
               !joined.plan(pair.yes, pair.no)) {
        bool is_result = pair.name == kReturnedResult;
        if (is_result && !is_missing(pair.yes) && !is_missing(pair.no)) {
            report_results(c, pair.yes, pair.no, range, yes.result_range, no.result_range);
        } else if (is_result && is_missing(pair.yes) != is_missing(pair.no)) {
            report_untyped_result(c, range);
        }
        c.at.scope->set(pair.name, is_result ? Object::error() : conflict(c, pair, yes, no, range));
    } else {
        kept.push_back(std::move(pair));
    }
}

// Plans the joined value of each name; those that have none are bound to the reason.
std::vector<Pair> plan_names(Context& c, ir::Value* condition, Branch& yes, Branch& no,
                             Merge& joined, Range range, uint32_t after) {
    std::vector<Pair> kept;
    for (Pair& pair : changed_names(c, yes, no)) {
        if (is_flag(pair.name) && pair.name != kReturnedResult &&
            settle_flag(c, condition, pair, range)) {
            continue;
        }
        fill_in(c, pair, yes, no, range);
        take_out_held(c, pair, yes, no, range);
        bool is_read = is_flag(pair.name) || is_live(c, pair.name, after);
        plan_name(c, pair, joined, yes, no, range, kept, is_read);
    }
    return kept;
}

void take_names(Context& c, Merge& joined, const std::vector<Pair>& kept,
                std::initializer_list<const Branch*> branches) {
    for (const Pair& pair : kept) {
        Object value = joined.take(pair.yes, pair.no);
        if (value.is_tensor() && value.value()->name.empty() && !is_flag(pair.name)) {
            value.value()->name = c.model.intern(name_text(c, pair.name));
        }
        // What both have left as it was is still of the graph that has made it.
        bool is_new = !are_one(pair.yes, pair.no);
        if (is_new && (value.is(ObjectKind::kList) || value.is(ObjectKind::kDict))) {
            claim(c, value);
        }
        for (const Object* one : {&pair.yes, &pair.no}) {
            bool is_container = one->is(ObjectKind::kList) || one->is(ObjectKind::kDict);
            if (is_container && is_held_elsewhere(c, *one, pair.name, branches)) {
                note_choice(c, value, *one);
            } else if (is_container) {
                inherit_choices(c, value, *one);
            }
            note_instances(c, value, *one);
        }
        set_value(c, pair.name, std::move(value));
    }
}

Jump merge_returns(Context& c, ir::Value* condition, Branch& yes, Branch& no, Range range) {
    Merge joined(c, yes, no, range);
    c.at.result = Object::error();
    c.at.result_range = yes.result_range;
    if (yes.result.is_error() || no.result.is_error()) {
        return Jump::kReturn;
    }
    std::vector<Pair> kept;
    for (Pair& pair : changed_names(c, yes, no)) {
        if (outlives(c, pair.name)) {
            take_out_held(c, pair, yes, no, range);
            plan_name(c, pair, joined, yes, no, range, kept, true);
        }
    }
    if (!joined.plan(yes.result, no.result)) {
        report_results(c, yes.result, no.result, range, yes.result_range, no.result_range);
    } else if (joined.emit(condition)) {
        take_names(c, joined, kept, {&yes, &no});
        c.at.result = joined.take(yes.result, no.result);
        note_choice(c, c.at.result, yes.result);
        note_choice(c, c.at.result, no.result);
        note_instances(c, c.at.result, yes.result);
        note_instances(c, c.at.result, no.result);
    }
    return Jump::kReturn;
}

}  // namespace

Jump merge(Context& c, ir::Value* condition, Branch& yes, Branch& no, Range range, uint32_t after) {
    if (yes.jump == Jump::kReturn && no.jump == Jump::kReturn) {
        return merge_returns(c, condition, yes, no, range);
    }
    for (Branch* branch : {&yes, &no}) {
        if (branch->jump == Jump::kReturn) {
            flag_return(c, *branch);
            c.at.returns_at = range;
        }
    }
    Merge joined(c, yes, no, range);
    std::vector<Pair> kept = plan_names(c, condition, yes, no, joined, range, after);
    if (joined.emit(condition)) {
        take_names(c, joined, kept, {&yes, &no});
    } else {
        for (const Pair& pair : kept) {
            set_value(c, pair.name, Object::make(ObjectKind::kUnbound, Unbound{}));
        }
    }
    return yes.jump == no.jump ? yes.jump : Jump::kNone;
}

std::optional<Object> merge_values(Context& c, ir::Value* condition, Branch& yes, Branch& no,
                                   const Object& a, const Object& b, Range range, uint32_t after) {
    Merge joined(c, yes, no, range);
    std::vector<Pair> kept = plan_names(c, condition, yes, no, joined, range, after);
    if (!joined.plan(a, b)) {
        return std::nullopt;
    }
    if (!joined.emit(condition)) {
        return Object::error();
    }
    take_names(c, joined, kept, {&yes, &no});
    Object value = joined.take(a, b);
    note_choice(c, value, a);
    note_choice(c, value, b);
    note_instances(c, value, a);
    note_instances(c, value, b);
    return value;
}

}  // namespace sardonyx::elaborate
