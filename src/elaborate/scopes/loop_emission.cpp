// The Loop node of a body whose names have settled, and what its outputs give to names behind it.
#include "elaborate/scopes/loop_emission.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "elaborate/emit/constants.h"
#include "elaborate/emit/emit.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/emit/opsets.h"
#include "elaborate/emit/sequences.h"
#include "elaborate/emit/values.h"
#include "elaborate/flow/block_facts.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/type_text.h"
#include "elaborate/scopes/branch.h"
#include "elaborate/scopes/carried.h"
#include "elaborate/scopes/flags.h"
#include "elaborate/scopes/instances.h"
#include "elaborate/scopes/loop_parts.h"
#include "elaborate/scopes/merge.h"
#include "ir/standard.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

// --- The node ----------------------------------------------------------------------------------

// Collects the inputs of the Loop node and the outputs of its body, then makes the node.
class LoopNode {
  public:
    LoopNode(Context& c, const GraphLoop& loop, ir::Graph* body)
        : c_(c), loop_(loop), body_(body), inputs_{loop.trip_count, loop.start} {}

    // Adds a value that leaves the body; false after an error.
    bool add(ir::Value* init, const Object& result, const Type& type) {
        inputs_.push_back(init);
        types_.push_back(type);
        return output_of(c_, body_, result, type.element_type(), loop_.head) != nullptr;
    }
    // The same with an input of the body that nobody reads.
    bool add_unread(std::string_view name, ir::Value* init, const Object& result,
                    const Type& type) {
        c_.model.add_input(body_, name, init->type);
        return add(init, result, type);
    }

    // The same for what the body appends to a list in every iteration: the node stacks it.
    bool add_row(const Object& row) {
        Shape shape = row.value()->type.shape();
        shape.insert(shape.begin(), loop_.count);
        types_.push_back(Type::tensor(row.value()->type.element_type(), std::move(shape)));
        return output_of(c_, body_, row, ElementType::kUndefined, loop_.head) != nullptr;
    }

    bool emit() {
        if (types_.empty()) {
            discard(*body_);
            return true;
        }
        OpsetObject opset = operator_opset(c_);
        import_opset(c_, opset, loop_.head);
        NodeRequest request;
        request.op_type = "Loop";
        request.inputs = inputs_;
        request.attributes.push_back(ir::make_attribute("body", body_));
        request.output_count = types_.size();
        request.range = loop_.head;
        node_ = emit_node(c_, std::move(request));
        return node_ != nullptr;
    }

    // The outputs in the order of add().
    ir::Value* take() {
        ir::Value* output = node_->output(next_);
        output->type = types_[next_++];
        return output;
    }

  private:
    Context& c_;
    const GraphLoop& loop_;
    ir::Graph* body_;
    std::vector<ir::Value*> inputs_;
    std::vector<Type> types_;
    ir::Node* node_ = nullptr;
    size_t next_ = 0;
};

// Binds a name to what holds outputs, which take the name over as a hint.
void bind_outputs(Context& c, Symbol name, const Object& object) {
    map_leaves(object, true, [&c, name](const Object& leaf) {
        if (leaf.is_tensor() && leaf.value()->name.empty() && !is_flag(name)) {
            leaf.value()->name = c.model.intern(name_text(c, name));
        }
        return leaf;
    });
    claim_parts(c, object);
    set_value(c, name, unpacked(c, object));
}

// A name or flag that the loop leaves bound and that had no value before.
struct Exit {
    Symbol name;
    Object value;  // at the end of an iteration
    Object init;   // when there was none
    bool surely;   // an iteration has been when somebody reads it
};

bool add_exit(Context& c, LoopNode& node, const Exit& exit) {
    std::vector<Object> inits = leaves_like(exit.value, exit.init).value_or(std::vector<Object>());
    size_t next = 0;
    bool ok = true;
    map_leaves(exit.value, false, [&](const Object& leaf) {
        const Object& init = inits[next++];
        if (init.is_tensor()) {
            Type type = exit.surely && leaf.is_tensor() ? leaf.value()->type : init.value()->type;
            std::string_view name = is_flag(exit.name) ? "flag" : c.text(exit.name);
            ok = node.add_unread(name, init.value(), leaf, type) && ok;
        }
        return leaf;
    });
    return ok;
}

void take_exit(Context& c, LoopNode& node, const Exit& exit) {
    std::vector<Object> inits = leaves_like(exit.value, exit.init).value_or(std::vector<Object>());
    size_t next = 0;
    Object value = map_leaves(exit.value, false, [&](const Object& leaf) {
        const Object& init = inits[next++];
        if (!init.is_tensor()) {
            return leaf;
        }
        ir::Value* output = node.take();
        return leaf.is_tensor() ? leaf.with_value(output) : Object::tensor(output);
    });
    bind_outputs(c, exit.name, value);
}

// The flags that the loop leaves behind. Those that are static and hold whether it ran or not are
// set at once.
void add_flag(Context& c, const GraphLoop& loop, Symbol name, const Object& value,
              std::vector<Exit>& exits) {
    bool unset = value.is(ObjectKind::kBool) && !value.as_bool();
    if (unset || (!value.is_tensor() && loop.surely_runs)) {
        c.at.scope->set(name, value);
        return;
    }
    ir::Value* no = emit_constant(c, Tensor::scalar<bool>(false), loop.head);
    if (no != nullptr) {
        exits.push_back({name, value, Object::tensor(no), true});
    }
}

void unbind(Context& c, const GraphLoop& loop, Symbol name) {
    const Object* before = c.at.scope->find(name);
    if (has_failed(before)) {
        return;
    }
    std::string reason = is_bound(before)
                             ? uncarried(*before)
                             : "is bound inside the loop only, which may run zero times";
    c.at.scope->set(
        name, Object::make(ObjectKind::kUnbound, Unbound{std::move(reason), c.span(loop.head)}));
}

// The names that only the body binds.
void add_bound_names(Context& c, const GraphLoop& loop, const Round& round,
                     std::vector<Exit>& exits) {
    for (const auto& [name, value] : round.bound) {
        const Object* before = c.at.scope->find(name);
        bool is_static = value.is_static();
        if (is_bound(before) && identical(packed(*before), value)) {
            continue;
        }
        bool has_value = before != nullptr && before->is(ObjectKind::kUnbound) &&
                         before->get<Unbound>().has_value;
        if ((has_failed(before) || has_value) && !loop.surely_runs) {
            continue;  // it has a value before the loop, which has been reported or will be
        }
        if (is_static && loop.surely_runs) {
            c.at.scope->set(name, unpacked(c, value));
            continue;
        }
        std::optional<Object> init;
        if (!is_static && can_carry(value) && !is_bound(before) &&
            is_live(c, name, loop.range.end)) {
            init = placeholder(c, c.graph, value, loop.head);
        }
        if (init) {
            exits.push_back({name, value, *init, loop.surely_runs});
        } else {
            unbind(c, loop, name);
        }
    }
}

// A list, dict or instance of a function around, whose items or members alone are assigned to.
bool is_from_around(const Context& c, Symbol name) {
    if (c.at.scope->find(name) != nullptr) {
        return false;
    }
    for (const Scope* one = c.at.scope->enclosing.get(); one != nullptr;
         one = one->enclosing.get()) {
        if (const Object* found = one->find(name)) {
            return found->is(ObjectKind::kList) || found->is(ObjectKind::kDict) ||
                   is_by_value(*found);
        }
    }
    return false;
}

}  // namespace

void forget_names(Context& c, const GraphLoop& loop, const std::vector<Symbol>& names,
                  const std::vector<Carried>& carried, const Round& round) {
    for (Symbol name : round.failed) {
        c.at.scope->set(name, Object::make(ObjectKind::kUnbound, Unbound{}));
    }
    for (Symbol name : names) {
        auto has_name = [name](const auto& one) { return one.name == name; };
        auto is_name = [name](const auto& one) { return one.first == name; };
        if (std::none_of(carried.begin(), carried.end(), has_name) &&
            std::none_of(round.bound.begin(), round.bound.end(), is_name) &&
            !is_from_around(c, name)) {
            unbind(c, loop, name);
        }
    }
}

namespace {

// The same as take_row() for a list of numbers.
ir::Value* take_number(const Slot& slot, const Object& result, ir::Value* input) {
    const std::optional<Tensor>& start = slot.init.value()->constant;
    ir::Node* join = result.is_numbers() ? result.value()->producer() : nullptr;
    if (!start || start->count() != 0 || !ir::is_standard(join, "Concat") ||
        join->input_count() != 2 || join->graph() != input->graph() || join->input(0) != input ||
        input->first_use()->next != nullptr || join->output()->has_uses()) {
        return nullptr;
    }
    ir::Node* row = join->input(1)->producer();
    bool is_one = ir::is_standard(row, "Reshape") && row->graph() == input->graph() &&
                  row->output()->first_use()->next == nullptr && row->input(0)->type.has_shape() &&
                  row->input(0)->type.shape().empty();
    if (!is_one) {
        return nullptr;
    }
    ir::Value* number = row->input(0);
    input->graph()->remove(join);
    input->graph()->remove(row);
    return number;
}

// What a round appends to a list that starts empty, when it does so once in every iteration and
// every row has one shape; the appending node is taken out. Null: anything else.
ir::Value* take_row(const Slot& slot, const Object& result, ir::Value* input) {
    if (slot.is_numbers) {
        return take_number(slot, result, input);
    }
    ir::Node* start = slot.init.value()->producer();
    ir::Node* insert = result.is_tensor() ? result.value()->producer() : nullptr;
    if (!ir::is_standard(start, "SequenceEmpty") || !ir::is_standard(insert, "SequenceInsert") ||
        insert->input_count() != 2 || insert->graph() != input->graph() ||
        insert->input(0) != input || input->first_use()->next != nullptr ||
        insert->output()->has_uses()) {
        return nullptr;
    }
    ir::Value* row = insert->input(1);
    if (!row->type.is_tensor() || !row->type.has_shape()) {
        return nullptr;
    }
    for (const Dim& dim : row->type.shape()) {
        // A dimension that was found out inside may be another one in the next iteration.
        if (!is_written(dim)) {
            return nullptr;
        }
    }
    input->graph()->remove(insert);
    return row;
}

// A list whose items a Loop has stacked.
Object rows_of(Context& c, ir::Value* stacked, const Type& item, Range range) {
    ir::Value* rows = split_rows(c, stacked, range);
    if (rows != nullptr) {
        rows->type = Type::sequence(item);
    }
    return as_object(rows);
}

}  // namespace

Object emit_loop(Context& c, const GraphLoop& loop, const std::vector<Carried>& carried,
                 Round& round) {
    std::vector<Exit> exits;
    add_bound_names(c, loop, round, exits);
    constexpr Symbol kBroke{UINT32_MAX};
    c.at.scope->set(kBroke, Object::boolean(false));
    if (loop.wants_broke) {
        add_flag(c, loop, kBroke, round.broke, exits);
    }
    add_flag(c, loop, kReturnedFlag, round.returned, exits);
    if (!round.result.is_error()) {
        if (std::optional<Object> init = placeholder(c, c.graph, round.result, loop.head)) {
            exits.push_back({kReturnedResult, round.result, *init, false});
        } else {
            report_untyped_result(c, loop.head);
        }
    }
    LoopNode node(c, loop, round.graph);
    bool ok = output_of(c, round.graph, round.go_on, ElementType::kBool, loop.head) != nullptr;
    std::vector<ir::Value*>& inputs = round.graph->inputs;
    std::vector<std::pair<size_t, ir::Value*>> rows;  // by the index of the name
    for (size_t i = 0, next = 2; i < carried.size(); ++i) {
        std::vector<Object> leaves =
            *leaves_like(carried[i].before, round.results[i], carried[i].has_items);
        for (size_t k = 0; k < carried[i].slots.size(); ++k) {
            const Slot& slot = carried[i].slots[k];
            if (slot.is_fixed) {
                continue;
            }
            ir::Value* row = carried[i].is_list ? take_row(slot, leaves[k], inputs[next]) : nullptr;
            if (row != nullptr) {
                inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(next));
                rows.emplace_back(i, row);
                continue;
            }
            ok = node.add(slot.init.value(), leaves[k], slot.type) && ok;
            ++next;
        }
    }
    for (const Exit& exit : exits) {
        ok = add_exit(c, node, exit) && ok;
    }
    for (const auto& [index, row] : rows) {
        ok = node.add_row(Object::tensor(row)) && ok;
    }
    if (!ok || !node.emit()) {
        return Object::boolean(false);
    }
    for (size_t i = 0; i < carried.size(); ++i) {
        const Carried& one = carried[i];
        auto is_row = [i](const auto& row) { return row.first == i; };
        if (std::any_of(rows.begin(), rows.end(), is_row)) {
            continue;
        }
        size_t next = 0;
        std::vector<Object> leaves = *leaves_like(one.before, round.results[i], one.has_items);
        bind_outputs(
            c, one.name, map_leaves(one.before, one.has_items, [&](const Object& before) {
                const Object& last = leaves[next];
                const Slot& slot = one.slots[next++];
                if (slot.is_fixed) {
                    return slot.init;
                }
                bool is_settled = loop.surely_runs && last.is_tensor() && !last.is_either() &&
                                  last.value()->type.element_type() == slot.type.element_type();
                bool surely_tensor = loop.surely_runs && last.is_tensor() &&
                                     !last.is_number_tensor() && !last.is_tensor_or_number();
                ir::Value* output = node.take();
                return (surely_tensor ? Object::tensor(output) : carried_as(before, slot, output))
                    .either(slot.is_either && !is_settled);
            }));
    }
    for (const Carried& one : carried) {
        if (!one.is_list && !one.may_change) {
            note_choices(c, packed(*find_value(c, one.name)), one.before);
            note_instances(c, *find_value(c, one.name), one.instance);
        }
    }
    for (const Exit& exit : exits) {
        take_exit(c, node, exit);
        if (!exit.surely && !is_flag(exit.name)) {
            c.at.possibly_unbound[exit.name.index] = {*c.at.scope->find(exit.name),
                                                      c.span(loop.head)};
        }
    }
    for (size_t i = 0; i < carried.size(); ++i) {
        note_held(c, *find_value(c, carried[i].name), held_objects(c, round.held[i]));
    }
    for (const auto& [name, instance] : round.instances) {
        const Object* made = find_value(c, name);
        if (!is_bound(made)) {
            continue;
        }
        note_instances(c, *made, instance);
        for (const auto& [twin, other] : round.instances) {
            const Object* again = find_value(c, twin);
            if (instance.pointer() == other.pointer() && is_bound(again)) {
                note_instances(c, *made, *again);
            }
        }
    }
    for (const auto& [index, row] : rows) {
        ir::Value* stacked = node.take();
        bind_outputs(c, carried[index].name,
                     carried[index].slots[0].is_numbers
                         ? Object::numbers(stacked)
                         : rows_of(c, stacked, row->type, loop.head));
    }
    Object broke = *c.at.scope->find(kBroke);
    c.at.scope->set(kBroke, Object::boolean(false));
    return broke;
}

}  // namespace sardonyx::elaborate
