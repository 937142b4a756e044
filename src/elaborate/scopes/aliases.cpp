// Whether two names may mean the same tensor. In Python x[0] = 1 changes the tensor for everyone
// who holds it; in a graph it makes a new tensor for one name. So an assignment to an item is
// reported where another name that is still read, or an item of a list, may hold the same tensor.
//
// Who holds it is known exactly, by the value, as long as no If or Loop stands between: their
// results are values of their own. There it is decided by the text: names between which a value may
// pass unchanged, by `a = b`, `xs.append(a)`, `a = b if c else d`, ..., are of one class. Names of
// other classes need not be looked at.
#include "elaborate/scopes/aliases.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "elaborate/emit/emitter.h"
#include "elaborate/flow/alias_classes.h"
#include "elaborate/flow/bindings.h"
#include "elaborate/flow/block_facts.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/scopes/branch.h"
#include "ir/standard.h"
#include "syntax/visit.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::ExprKind;
using syntax::Stmt;
using syntax::Stmts;

namespace {

// A value that stands for one of several: of a branch, a loop, the input of a loop's body, or an
// item of a sequence, which is a list of Python.
bool is_merged(const ir::Value* value) {
    const ir::Node* producer = value->producer();
    if (producer != nullptr) {
        return ir::is_standard(producer, "If") || ir::is_standard(producer, "Loop") ||
               ir::is_standard(producer, "Scan") || ir::is_standard(producer, "SequenceAt");
    }
    return value->is_graph_input() && value->graph()->parent() != nullptr;
}

// The tensors of which a merged one may be one: those that branches leave, that loops begin and go
// on with, and that were put into the list of which it is an item. Of a list: the lists that it may
// be.
class Origins {
  public:
    enum class Of : uint8_t { kTensor, kList };
    Origins(const Context& c, Of what) : c_(c), what_(what) {}

    const std::unordered_set<const ir::Value*>& of(const ir::Value* value) {
        add(value);
        return found_;
    }

  private:
    // What leaves a graph from outside it passes through a node of its own.
    void add_output(const ir::Graph& graph, size_t index) {
        const ir::Value* value = index < graph.outputs.size() ? graph.outputs[index] : nullptr;
        if (value != nullptr && ir::is_standard(value->producer(), "Identity")) {
            add(value->producer()->input(0));
        }
        add(value);
    }

    void add_subgraph(const ir::Node& node, std::string_view name, size_t index) {
        if (const ir::Attribute* attribute = node.find_attribute(name)) {
            add_output(**attribute->get<ir::Graph*>(), index);
        }
    }

    void add(const ir::Value* value) {
        if (value == nullptr || !found_.insert(value).second) {
            return;
        }
        const ir::Node* node = value->producer();
        size_t index = node != nullptr ? value->output_index() : 0;
        if (ir::is_standard(node, "If")) {
            add_subgraph(*node, "then_branch", index);
            add_subgraph(*node, "else_branch", index);
        } else if (ir::is_standard(node, "Loop")) {
            if (index + 2 < node->input_count()) {  // else it has the rows of all iterations
                add(node->input(index + 2));
                add_subgraph(*node, "body", index + 1);
            }
        } else if (what_ == Of::kTensor && (ir::is_standard(node, "SequenceAt") ||
                                            ir::is_standard(node, "SequenceConstruct") ||
                                            ir::is_standard(node, "SequenceInsert"))) {
            for (size_t i = 0; i < node->input_count(); ++i) {
                add(node->input(i));
            }
        } else if (node == nullptr) {
            for (const auto& [input, before] : c_.loop_inputs) {
                add(input == value ? before : nullptr);
            }
        }
    }

    const Context& c_;
    Of what_;
    std::unordered_set<const ir::Value*> found_;
};

// Whether a name may hold the same as the one in question: of its class of aliases, or another.
enum class NameClass : uint8_t { kSame, kOther };

// Counts the places that hold a tensor: exactly, or, for names of its class, maybe.
class Holders {
  public:
    explicit Holders(const ir::Value* value) : value_(value), value_is_merged_(is_merged(value)) {}
    // The same, or one of those that both may be.
    Holders(const Context& c, const ir::Value* value, Origins::Of what = Origins::Of::kTensor)
        : value_(value),
          value_is_merged_(is_merged(value)),
          c_(&c),
          what_(what),
          origins_(Origins(c, what).of(value)) {}
    // The places that hold a list: names of a class may share items of it, which says nothing.
    static Holders of_list(const Context& c, const ir::Value* value) {
        return {c, value, Origins::Of::kList};
    }

    bool may_be(const ir::Value* other, NameClass of_name) const {
        bool is_either_merged = value_is_merged_ || is_merged(other);
        if (other == value_ || c_ == nullptr) {
            return other == value_ || (of_name == NameClass::kSame && is_either_merged);
        }
        if (what_ == Origins::Of::kTensor && !is_either_merged) {
            return false;
        }
        const auto others = Origins(*c_, what_).of(other);
        return std::any_of(others.begin(), others.end(),
                           [this](const ir::Value* one) { return origins_.count(one) != 0; });
    }

    int count(const Object& object, NameClass of_name, int depth = 0) {
        // A number is no list, and nothing changes it.
        if (object.is_number_tensor() ||
            (what_ == Origins::Of::kList && object.is_tensor() && !is_sequence_value(object))) {
            return 0;
        }
        if (object.is_tensor() || object.is_numbers()) {
            return may_be(object.value(), of_name) ? 1 : 0;
        }
        if (object.is(ObjectKind::kIterator)) {
            return count(object.get<IteratorObject>().sources, of_name, depth + 1);
        }
        if (object.is(ObjectKind::kClosure)) {
            return count_each(object.get<Closure>().defaults, of_name, depth + 1);
        }
        if (object.is(ObjectKind::kMethod)) {
            return count(object.get<MethodObject>().self, of_name, depth + 1);
        }
        if (object.is(ObjectKind::kPartial)) {
            const PartialObject& partial = object.get<PartialObject>();
            int found = count_each(partial.first, of_name, depth + 1) +
                        count(partial.function, of_name, depth + 1);
            for (const auto& [name, value] : partial.keywords.items) {
                found += count(value, of_name, depth + 1);
            }
            return found;
        }
        Namespace* instance = class_of(object) != nullptr ? as_namespace(object) : nullptr;
        if (instance != nullptr && depth <= kDepth && seen_.insert(instance).second) {
            int found = 0;
            for (const auto& [name, value] : instance->own_values()) {
                found += count(value, of_name, depth + 1);
            }
            return found;
        }
        bool is_dict = object.is(ObjectKind::kDict);
        if ((!is_dict && !object.is_sequence()) || depth > kDepth || steps_ > kSteps ||
            !seen_.insert(object.pointer().get()).second) {
            return 0;
        }
        int found = 0;
        if (is_dict) {
            for (const auto& [key, item] : object.get<DictObject>().items) {
                ++steps_;
                found += count(item, of_name, depth + 1);
            }
        } else {
            for (const Object& item : object.items()) {
                ++steps_;
                found += count(item, of_name, depth + 1);
            }
        }
        return found;
    }

  private:
    int count_each(const std::vector<Object>& objects, NameClass of_name, int depth) {
        int found = 0;
        for (const Object& one : objects) {
            found += count(one, of_name, depth);
        }
        return found;
    }

    static constexpr int kDepth = 32;
    static constexpr int64_t kSteps = 1'000'000;
    const ir::Value* value_;
    bool value_is_merged_;
    const Context* c_ = nullptr;  // null: the class of a name says what it may hold
    Origins::Of what_ = Origins::Of::kTensor;
    std::unordered_set<const ir::Value*> origins_;
    int64_t steps_ = 0;
    std::unordered_set<const void*> seen_;  // a list that two names share is one place
};

// The first name of a scope, in the order of the text, that holds the tensor.
std::string name_of_holder(const Context& c, const Scope& scope, const ir::Value* value) {
    std::optional<uint32_t> first;
    for (const auto& [symbol, object] : scope.values()) {
        if ((!first || symbol.index < *first) &&
            Holders(c, value).count(object, NameClass::kOther) > 0) {
            first = symbol.index;
        }
    }
    return first ? std::string(scope.function->tree->names.text(Symbol{*first})) : std::string();
}

}  // namespace

TargetUse target_use(Stmts statements, Symbol name) {
    TargetUse found;
    auto see = [&found, name](const Bound& one) {
        if (one.name == name) {
            (one.how == binds::kItem ? found.items : found.whole) = true;
        }
    };
    each_binding<binds::kTarget | binds::kItem | binds::kHead | binds::kNamed>(nullptr, statements,
                                                                               see);
    auto see_function = [&found, name](const Stmt* statement) {
        if (const auto* inner = syntax::maybe_as<syntax::FunctionDefStmt>(statement)) {
            TargetUse use = target_use(inner->body, name);
            found.items = found.items || use.items;
            found.whole = found.whole || use.whole;
        }
    };
    each_statement(statements, LoopBodies::kVisited, see_function);
    return found;
}

namespace {

// Whether it runs in place as Python would run it: a function without a decorator, of a file's top
// level (which has no definition) or read from Python.
bool is_plain(const ScriptFunction& function) {
    return function.definition == nullptr || function.definition->decorators.empty();
}

// Whether the current graph runs once, when it runs: no loop's body is around it.
bool runs_once(const Context& c) {
    const ir::Graph* graph = c.graph;
    while (graph != c.unit->graph && graph != nullptr && graph->name == kBranchGraph) {
        graph = graph->parent();
    }
    return graph == c.unit->graph;
}

// The scopes of the functions that are waiting for this one and may have passed it their tensors;
// with the names that hold this one, where all of them can be given another. What a caller has
// evaluated before the call, as the first operand of `x + g(x)`, cannot.
std::vector<const Scope*> waiting_scopes(const Context& c, const ir::Value* value, bool can_give,
                                         std::vector<CallerName>& names) {
    std::vector<const Scope*> scopes;
    const ScriptFunction* inner = c.at.scope->function;
    const Context::Activation* caller = c.at.caller;
    for (; caller != nullptr && caller->scope != nullptr; caller = caller->caller) {
        if (caller->scope->function != inner && !is_plain(*inner)) {
            break;
        }
        inner = caller->scope->function;
        bool is_here = can_give && caller->calls_in == c.graph && caller->is_own_call;
        for (const auto& [symbol, object] : caller->scope->values()) {
            if (is_here && (object.is_tensor() || object.is_numbers()) && object.value() == value) {
                names.push_back({caller->scope.get(), symbol});
            }
        }
        scopes.push_back(caller->scope.get());
    }
    return scopes;
}

}  // namespace

std::optional<std::string> other_holder(Context& c, const ir::Value* value, Symbol name,
                                        Changed changed, uint32_t offset,
                                        std::vector<CallerName>& callers) {
    bool in_list = changed == Changed::kTensorInList;
    bool is_list = changed == Changed::kList;
    Holders holders = is_list ? Holders::of_list(c, value) : Holders(value);
    int places = 0;
    std::string holder;
    std::vector<uint32_t> names{name.index};
    if (c.at.body != nullptr) {
        AliasClasses& classes = alias_classes(c);
        auto members = classes.members.find(classes.find(name.index));
        names = members != classes.members.end() ? members->second : names;
    }
    for (uint32_t symbol : names) {
        bool is_own = symbol == name.index;
        const Object* object = c.at.scope->find(Symbol{symbol});
        if (object != nullptr && !(is_own && !in_list) &&
            (is_own || is_live(c, Symbol{symbol}, offset))) {
            int found = holders.count(*object, NameClass::kSame);
            places += found;
            holder = found > 0 && (holder.empty() || !is_own) ? c.text(Symbol{symbol}) : holder;
        }
    }
    for (const Context::Iterated& one : c.at.iterated) {
        bool same_class =
            c.at.body != nullptr &&
            std::any_of(one.names.begin(), one.names.end(), [&](Symbol symbol) {
                return std::find(names.begin(), names.end(), symbol.index) != names.end();
            });
        if (holders.may_be(one.value, same_class ? NameClass::kSame : NameClass::kOther)) {
            ++places;
            holder = c.source(one.range);
        }
    }
    bool can_give = !in_list && !is_merged(value) && runs_once(c);
    Holders around = is_list ? Holders::of_list(c, value) : Holders(c, value);
    // A caller may have given one tensor for several parameters.
    bool in_call = c.at.caller != nullptr && c.at.caller->scope != nullptr;
    for (const auto& [symbol, object] : c.at.scope->values()) {
        bool is_seen = std::find(names.begin(), names.end(), symbol.index) != names.end();
        if (!is_seen && in_call && is_live(c, symbol, offset) &&
            around.count(object, NameClass::kOther) > 0) {
            ++places;
            holder = symbol.index < c.tree().names.size() ? c.text(symbol) : holder;
        }
    }
    std::vector<const Scope*> others = waiting_scopes(c, value, can_give, callers);
    for (const auto* caller = c.at.caller; caller != nullptr; caller = caller->caller) {
        places += std::any_of(
                      caller->iterated.begin(), caller->iterated.end(),
                      [&](const auto& one) { return around.may_be(one.value, NameClass::kOther); })
                      ? 1
                      : 0;
    }
    const Scope* enclosing = c.at.scope->enclosing.get();
    for (; enclosing != nullptr; enclosing = enclosing->enclosing.get()) {
        if (std::find(others.begin(), others.end(), enclosing) == others.end()) {
            others.push_back(enclosing);
        }
    }
    for (const Scope* scope : others) {
        for (const auto& [symbol, object] : scope->values()) {
            bool is_given = std::any_of(callers.begin(), callers.end(), [&](const CallerName& one) {
                return one.scope == scope && one.name == symbol;
            });
            places += is_given ? 0 : around.count(object, NameClass::kOther);
        }
    }
    if (places <= (in_list ? 1 : 0)) {
        return std::nullopt;
    }
    for (size_t i = 0; holder.empty() && i < others.size(); ++i) {
        holder = name_of_holder(c, *others[i], value);
    }
    return holder;
}

bool is_held_again(Context& c, const ir::Value* list, uint32_t offset) {
    std::vector<CallerName> names;
    std::vector<const Scope*> scopes = waiting_scopes(c, list, false, names);
    for (const Scope* one = c.at.scope->enclosing.get(); one != nullptr;
         one = one->enclosing.get()) {
        if (std::find(scopes.begin(), scopes.end(), one) == scopes.end()) {
            scopes.push_back(one);
        }
    }
    Holders holders = Holders::of_list(c, list);
    int places = 0;
    for (const auto& [symbol, object] : c.at.scope->values()) {
        bool is_instance = as_namespace(object) != nullptr;
        places += is_instance || is_live(c, symbol, offset)
                      ? holders.count(object, NameClass::kOther)
                      : 0;
    }
    for (const Scope* scope : scopes) {
        for (const auto& [symbol, object] : scope->values()) {
            places += holders.count(object, NameClass::kOther);
        }
    }
    for (const Context::Activation* at = &c.at; at != nullptr; at = at->caller) {
        places += std::any_of(
                      at->iterated.begin(), at->iterated.end(),
                      [&](const auto& one) { return holders.may_be(one.value, NameClass::kOther); })
                      ? 1
                      : 0;
    }
    return places > 1;
}

}  // namespace sardonyx::elaborate
