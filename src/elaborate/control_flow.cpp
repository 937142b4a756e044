// `if` on a tensor's value.
//
// Both branches run at compile time, each into a subgraph of its own and from the same state of the
// scope; then every name that they leave with different values becomes an output of an If node. A
// branch that leaves (return, break, continue) takes what follows the `if` into the other branch,
// so that both ways end at the same place. Where a branch may or may not break, a flag is carried
// out of it and the rest is guarded by a second If; where it may or may not return, the rest is put
// into both branches.

#include "elaborate/branch.h"

#include <fmt/format.h>

#include <algorithm>

#include "elaborate/emit.h"
#include "elaborate/eval.h"
#include "elaborate/exec.h"
#include "elaborate/statics.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

bool has_statements(const Rest* rest) {
    for (; rest != nullptr; rest = rest->next) {
        if (!rest->statements.empty()) {
            return true;
        }
    }
    return false;
}

bool is_leaf(const Object& object) {
    return object.is_tensor() || object.is_number() || object.is(ObjectKind::kConstant) ||
           object.is(ObjectKind::kAttribute) || object.is(ObjectKind::kString) ||
           (object.is_sequence() && object.is_static() && !object.items().empty() &&
            object.items()[0].is_number());
}

// Calls `leaf(a, b)` for the places where two objects of the same structure differ; nothing when
// their structures differ. Same order of calls for the same objects.
template <typename Leaf>
std::optional<Object> join_objects(const Object& a, const Object& b, Leaf&& leaf) {
    if (equal(a, b)) {
        return a;
    }
    if (a.is(ObjectKind::kTuple) && b.is(ObjectKind::kTuple) &&
        a.items().size() == b.items().size() && !(a.is_static() && b.is_static())) {
        std::vector<Object> items;
        for (size_t i = 0; i < a.items().size(); ++i) {
            std::optional<Object> item = join_objects(a.items()[i], b.items()[i], leaf);
            if (!item) {
                return std::nullopt;
            }
            items.push_back(std::move(*item));
        }
        return Object::tuple(std::move(items));
    }
    if (is_leaf(a) && is_leaf(b)) {
        return leaf(a, b);
    }
    return std::nullopt;
}

// The element type for a static object that meets another object in a join.
ElementType type_beside(const Object& object, const Object& other) {
    if (other.is_tensor()) {
        return other.value()->type.element_type();
    }
    if (other.is(ObjectKind::kConstant)) {
        return other.get<Tensor>().element_type();
    }
    if (object.is_number() && other.is_number() &&
        (object.is(ObjectKind::kFloat) || other.is(ObjectKind::kFloat))) {
        return ElementType::kFloat;
    }
    return ElementType::kUndefined;
}

}  // namespace

ir::Value* output_of(Context& c, ir::Graph* graph, const Object& object, ElementType type,
                     Range range) {
    ir::Graph* outer = c.graph;
    c.graph = graph;
    ir::Value* value =
        as_value(c, object, range, object.is_tensor() ? ElementType::kUndefined : type);
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

// What the two branches leave behind, as outputs of one If node.
class Merge {
  public:
    Merge(Context& c, Branch& yes, Branch& no, Range range)
        : c_(c), yes_(yes), no_(no), range_(range) {}

    // Adds outputs for a pair of objects; nothing when they cannot be one value.
    std::optional<Object> plan(const Object& a, const Object& b) {
        size_t before = yes_.graph->outputs.size();
        auto leaf = [this](const Object& x, const Object& y) -> std::optional<Object> {
            ElementType type = type_beside(x, y);
            if (x.is_tensor() && y.is_tensor()) {
                ElementType left = x.value()->type.element_type();
                ElementType right = y.value()->type.element_type();
                if (left != right && left != ElementType::kUndefined &&
                    right != ElementType::kUndefined) {
                    return std::nullopt;
                }
            }
            if (output_of(c_, yes_.graph, x, type, range_) == nullptr ||
                output_of(c_, no_.graph, y, type_beside(y, x), range_) == nullptr) {
                failed_ = true;
            }
            return Object::error();
        };
        std::optional<Object> planned = join_objects(a, b, leaf);
        if (!planned && !failed_) {
            yes_.graph->outputs.resize(before);
            no_.graph->outputs.resize(before);
        }
        return planned;
    }

    bool emit(ir::Value* condition) {
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
        return node_ != nullptr;
    }

    // The same pair after emit(): the joined object, with the node's outputs in its places.
    Object take(const Object& a, const Object& b) {
        return join_objects(a, b,
                            [this](const Object&, const Object&) -> std::optional<Object> {
                                return Object::tensor(node_->output(next_++));
                            })
            .value_or(Object::error());
    }

  private:
    Context& c_;
    Branch& yes_;
    Branch& no_;
    Range range_;
    ir::Node* node_ = nullptr;
    size_t next_ = 0;
    bool failed_ = false;
};

struct Pair {
    Symbol name;
    Object yes;
    Object no;
};

std::string describe(const Object& object) {
    return object.is_tensor() ? fmt::format("`{}`", object.value()->type.to_string())
                              : fmt::format("{}", kind_name(object));
}

Object conflict(Context& c, const Pair& pair, Range range) {
    bool unbound = pair.yes.is_error() || pair.no.is_error() || pair.yes.is(ObjectKind::kUnbound) ||
                   pair.no.is(ObjectKind::kUnbound);
    std::string reason = unbound ? std::string("is bound in one branch only")
                                 : fmt::format("is {} in one branch and {} in the other",
                                               describe(pair.yes), describe(pair.no));
    return Object::make(ObjectKind::kUnbound, Unbound{std::move(reason), c.span(range)});
}

bool failed_binding(const Object& object) {
    return object.is(ObjectKind::kUnbound) && object.get<Unbound>().reason.empty();
}

}  // namespace

Jump merge(Context& c, ir::Value* condition, Branch& yes, Branch& no, Range range, uint32_t after) {
    std::vector<Pair> pairs;
    bool returns = yes.jump == Jump::kReturn && no.jump == Jump::kReturn;
    for (const Branch* branch : {&yes, &no}) {
        if (returns) {
            break;  // nobody reads a name any more
        }
        for (const auto& [name, value] : branch->changes) {
            bool seen = std::any_of(pairs.begin(), pairs.end(),
                                    [name = name](const Pair& p) { return p.name == name; });
            if (!seen) {
                pairs.push_back({name, yes.value_of(c, name), no.value_of(c, name)});
            }
        }
    }
    Merge joined(c, yes, no, range);
    std::vector<Pair> kept;
    for (Pair& pair : pairs) {
        bool missing = pair.yes.is_error() || pair.no.is_error();
        if (failed_binding(pair.yes) || failed_binding(pair.no)) {
            c.at.scope->set(pair.name, failed_binding(pair.yes) ? pair.yes : pair.no);
        } else if (!is_live(c, pair.name, after) && pair.name.index < kFirstFlag) {
            c.at.scope->set(pair.name, conflict(c, pair, range));
        } else if (missing || !joined.plan(pair.yes, pair.no)) {
            c.at.scope->set(pair.name, conflict(c, pair, range));
        } else {
            kept.push_back(std::move(pair));
        }
    }
    if (returns && !yes.result.is_error() && !no.result.is_error() &&
        !joined.plan(yes.result, no.result)) {
        c.report(kBranchTypeMismatch, range,
                 fmt::format("the branches return {} and {}", describe(yes.result),
                             describe(no.result)))
            .label(c.span(yes.result_range), "one result")
            .label(c.span(no.result_range), "the other")
            .with_help("return the same number of results, of the same types");
        yes.result = no.result = Object::error();
    }
    if (!joined.emit(condition)) {
        for (const Pair& pair : kept) {
            c.at.scope->set(pair.name, Object::make(ObjectKind::kUnbound, Unbound{}));
        }
        c.at.result = Object::error();
        return returns ? Jump::kReturn : Jump::kNone;
    }
    for (const Pair& pair : kept) {
        Object value = joined.take(pair.yes, pair.no);
        if (value.is_tensor() && value.value()->name.empty() && pair.name.index < kFirstFlag) {
            value.value()->name = c.model.intern(c.text(pair.name));
        }
        c.at.scope->set(pair.name, std::move(value));
    }
    if (returns) {
        bool bad = yes.result.is_error() || no.result.is_error();
        c.at.result = bad ? Object::error() : joined.take(yes.result, no.result);
        c.at.result_range = yes.result_range;
        return Jump::kReturn;
    }
    if ((yes.jump == Jump::kReturn) != (no.jump == Jump::kReturn) && c.at.loops > 0) {
        return Jump::kReturn;  // exec_return() has refused it
    }
    if ((yes.jump == Jump::kReturn) != (no.jump == Jump::kReturn) && !c.gave_up) {
        c.report(kMissingReturn, range, "one branch returns, and the other ends without a result")
            .with_help("return on every path");
        c.at.result = Object::error();
        return Jump::kReturn;
    }
    return yes.jump == no.jump ? yes.jump : Jump::kNone;
}

Object Branch::value_of(const Context& c, Symbol name) const {
    for (const auto& [changed, value] : changes) {
        if (changed == name) {
            return value;
        }
    }
    const Object* before = c.at.scope->find(name);
    return before != nullptr ? *before : Object::error();
}

Jump exec_if(Context& c, ir::Value* condition, const syntax::IfStmt* statement, const Rest* rest,
             bool& consumed_rest) {
    bool yes_leaves = always_jumps(statement->body);
    bool no_leaves = !statement->orelse.empty() && always_jumps(statement->orelse);
    bool returns = may_return(statement->body) || may_return(statement->orelse);
    bool take_rest =
        has_statements(rest) && (yes_leaves != no_leaves || (returns && !yes_leaves && !no_leaves));
    consumed_rest = take_rest || (yes_leaves && no_leaves) || (returns && yes_leaves != no_leaves);
    Branch yes = run_branch(
        c, [&] { return exec(c, statement->body, take_rest && !yes_leaves ? rest : nullptr); });
    Branch no = run_branch(
        c, [&] { return exec(c, statement->orelse, take_rest && !no_leaves ? rest : nullptr); });
    // Names are read after the branches; when these hold the rest, only the loop around matters.
    return merge(c, condition, yes, no, statement->condition->range, statement->range.end);
}

Jump exec_guarded(Context& c, ir::Value* skip, Range range, const Rest* rest) {
    if (!has_statements(rest)) {
        return Jump::kNone;
    }
    Branch yes = run_branch(c, [] { return Jump::kNone; });
    Branch no = run_branch(c, [&] { return exec(c, rest->statements, rest->next); });
    merge(c, skip, yes, no, range, range.end);
    return Jump::kNone;
}

Object choose(Context& c, ir::Value* condition, const syntax::IfExpExpr* expr) {
    Object a, b;
    Branch yes = run_branch(c, [&] {
        a = eval(c, expr->body);
        return Jump::kNone;
    });
    Branch no = run_branch(c, [&] {
        b = eval(c, expr->orelse);
        return Jump::kNone;
    });
    if (a.is_error() || b.is_error()) {
        return Object::error();
    }
    Merge joined(c, yes, no, expr->range);
    if (!joined.plan(a, b)) {
        c.report(
             kBranchTypeMismatch, expr->range,
             fmt::format("the two sides of a conditional are {} and {}", describe(a), describe(b)))
            .label(c.span(expr->body->range), describe(a))
            .label(c.span(expr->orelse->range), describe(b))
            .with_help("cast one of them");
        return Object::error();
    }
    return joined.emit(condition) ? joined.take(a, b) : Object::error();
}

Symbol broke_flag(const Context& c) {
    return Symbol{kFirstFlag + 2 * static_cast<uint32_t>(c.at.loops)};
}

Symbol continued_flag(const Context& c) {
    return Symbol{kFirstFlag + 2 * static_cast<uint32_t>(c.at.loops) + 1};
}

ir::Value* dynamic_jump(Context& c, Range range) {
    if (c.at.loops == 0) {
        return nullptr;
    }
    const Object* broke = c.at.scope->find(broke_flag(c));
    const Object* continued = c.at.scope->find(continued_flag(c));
    bool a = broke != nullptr && broke->is_tensor();
    bool b = continued != nullptr && continued->is_tensor();
    if (a && b) {
        return Emitter(c, range).emit("Or", {broke->value(), continued->value()});
    }
    return a ? broke->value() : b ? continued->value() : nullptr;
}

}  // namespace sardonyx::elaborate
