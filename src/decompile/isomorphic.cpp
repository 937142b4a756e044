#include "decompile/isomorphic.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/quote.h"
#include "base/stop.h"
#include "decompile/decompile.h"
#include "decompile/facts.h"
#include "decompile/schema_defaults.h"
#include "ir/equal.h"
#include "ir/producer.h"
#include "ir/standard.h"
#include "types/known_sizes.h"

namespace sardonyx::decompile {
namespace {

// Shapes aside, which files say wrong at times: they follow from the inputs and nodes.
bool may_be_same(const Type& a, const Type& b) {
    bool is_known = a.is_known() && b.is_known();
    bool has_types =
        a.element_type() != ElementType::kUndefined && b.element_type() != ElementType::kUndefined;
    return !is_known ||
           (a.kind() == b.kind() && (!has_types || a.element_type() == b.element_type()));
}

// One of the two sides: where a graph stands.
struct Side {
    const ir::Model& model;
    const ir::Function* function;  // null: the main graph

    InitializedInput initialized_input() const { return decompile::initialized_input(model); }
    int64_t version_of(std::string_view domain) const {
        return function != nullptr ? ir::opset_version(function->opset_imports, domain)
                                   : model.opset_version(domain);
    }
    const ir::Function* callee_of(const ir::Node& node) const {
        return model.find_function(node.domain, node.op_type, node.overload);
    }
};

class Comparison {
  public:
    Comparison(Side a, Side b) : a_(a), b_(b) {}

    bool loses_shapes = false;  // of subgraphs

    using FunctionPair = std::pair<const ir::Function*, const ir::Function*>;
    std::vector<FunctionPair> called;  // to be compared too, in the order in which they are met

    std::string compare(const ir::Graph& a, const ir::Graph& b) {
        compare_signature(a, b);
        while (problem_.empty() && !waiting_.empty()) {
            stop_point();
            auto [x, y] = waiting_.back();
            waiting_.pop_back();
            compare_values(x, y);
        }
        return problem_;
    }

  private:
    template <typename... T>
    void differ(fmt::format_string<T...> words, T&&... values) {
        if (problem_.empty()) {
            problem_ = fmt::format(words, std::forward<T>(values)...);
        }
    }

    std::vector<const ir::Value*> inputs_of(const ir::Graph& graph, const Side& side) {
        std::vector<const ir::Value*> inputs;
        for (const ir::Value* input : graph.inputs) {
            if (constant_of(*input, side.initialized_input()) == nullptr) {
                inputs.push_back(input);
            }
        }
        return inputs;
    }

    // `first`: the first output that is compared.
    void compare_signature(const ir::Graph& a, const ir::Graph& b, size_t first = 0) {
        std::vector<const ir::Value*> x = inputs_of(a, a_), y = inputs_of(b, b_);
        if (x.size() != y.size() || a.outputs.size() != b.outputs.size()) {
            differ("{} inputs and {} outputs become {} and {}", x.size(), a.outputs.size(),
                   y.size(), b.outputs.size());
            return;
        }
        for (size_t i = 0; i < x.size(); ++i) {
            bind(x[i], y[i]);
            note_shapes(a, *x[i], *y[i]);
            bool is_model = a_.function == nullptr && a.parent() == nullptr;
            if (is_model && !is_type_kept(x[i]->type, y[i]->type)) {
                differ("the input {} of type {} becomes one of type {}", quoted(x[i]->name),
                       x[i]->type.to_string(), y[i]->type.to_string());
            }
            bool has_default = x[i]->is_initializer();
            if (has_default != y[i]->is_initializer() ||
                (has_default && !ir::same_stored(*x[i], *y[i]))) {
                differ("the default of the input {} changes", quoted(x[i]->name));
            }
        }
        compare_outputs(a, b, first);
    }

    void note_shapes(const ir::Graph& a, const ir::Value& x, const ir::Value& y) {
        if (a.parent() == nullptr || !x.type.is_tensor() || !x.type.has_shape() ||
            !y.type.is_tensor()) {
            return;
        }
        const Shape& before = x.type.shape();
        bool is_kept = y.type.has_shape() && y.type.shape().size() == before.size();
        for (size_t i = 0; is_kept && i < before.size(); ++i) {
            is_kept = !before[i].is_static() || y.type.shape()[i].is_static();
        }
        loses_shapes = loses_shapes || !is_kept;
    }

    // A script leaves out names in items that its models would hold to.
    bool is_type_kept(const Type& x, const Type& y) const {
        if (x == y || ir::names_hold_in_items(a_.model) || x.kind() != y.kind()) {
            return x == y;
        }
        return x.kind() == TypeKind::kOptional ? is_type_kept(x.element(), y.element())
               : x.kind() == TypeKind::kSequence
                   ? Type::sequence(with_known_sizes(x.element())) == y
                   : false;
    }

    void compare_outputs(const ir::Graph& a, const ir::Graph& b, size_t first) {
        std::set<const ir::Value*> seen;
        auto is_own = [&seen](const ir::Value* value, const ir::Graph& graph, const Side& side) {
            return value->producer() != nullptr && value->graph() == &graph &&
                   constant_of(*value, side.initialized_input()) == nullptr &&
                   seen.insert(value).second;
        };
        auto is_copy = [](const ir::Value* value, const ir::Graph& graph) {
            return value->graph() == &graph && ir::is_standard(value->producer(), "Identity");
        };
        for (size_t i = first; i < a.outputs.size(); ++i) {
            const ir::Value* x = a.outputs[i];
            const ir::Value* y = b.outputs[i];
            note_shapes(a, *x, *y);
            bool is_own_of_a = is_own(x, a, a_), is_own_of_b = is_own(y, b, b_);
            if (!is_own_of_a && is_copy(y, b)) {
                y = y->producer()->input(0);
            } else if (!is_own_of_b && is_copy(x, a)) {
                x = x->producer()->input(0);
            }
            if (!may_be_same(x->type, y->type)) {
                differ("the result {} of type {} becomes one of type {}", quoted(x->name),
                       x->type.to_string(), y->type.to_string());
            }
            waiting_.emplace_back(x, y);
        }
    }

    void bind(const ir::Value* x, const ir::Value* y) {
        auto [to, is_new] = to_.try_emplace(x, y);
        auto [from, is_new_too] = from_.try_emplace(y, x);
        if (to->second != y || from->second != x) {
            differ("the value {} becomes two", quoted(x->name));
        }
    }

    void compare_values(const ir::Value* x, const ir::Value* y) {
        if (x == nullptr || y == nullptr) {
            if (x != y) {
                differ("an input that is left out is given, or the other way round");
            }
            return;
        }
        const Tensor* s = constant_of(*x, a_.initialized_input());
        const Tensor* t = constant_of(*y, b_.initialized_input());
        if (s != nullptr && t != nullptr) {
            if (!ir::same_tensor(*s, *t)) {
                differ("the constant {} becomes {}", to_string(*s), to_string(*t));
            }
            return;
        }
        bool is_known = to_.contains(x) || from_.contains(y);
        bind(x, y);
        if (is_known) {
            return;
        }
        if (x->producer() == nullptr || y->producer() == nullptr) {
            differ("the value {} becomes another", quoted(x->name));
        } else if (x->output_index() != y->output_index()) {
            differ("the output {} of a node becomes another", quoted(x->name));
        } else {
            compare_nodes(*x->producer(), *y->producer());
        }
    }

    void compare_nodes(const ir::Node& a, const ir::Node& b) {
        auto [found, is_new] = nodes_.try_emplace(&a, &b);
        if (!is_new) {
            if (found->second != &b) {
                differ("the node of {} becomes two", quoted(a.op_type));
            }
            return;
        }
        const ir::Function* f = a_.callee_of(a);
        const ir::Function* g = b_.callee_of(b);
        bool is_one_operator =
            (f == nullptr) == (g == nullptr) && a.domain == b.domain &&
            (f != nullptr || (a.op_type == b.op_type && a.overload == b.overload));
        if (!is_one_operator ||
            (f == nullptr && a_.version_of(a.domain) != b_.version_of(b.domain))) {
            differ("a node {} becomes one of {}", quoted(a.op_type), quoted(b.op_type));
            return;
        }
        if (f != nullptr) {
            called.emplace_back(f, g);
        }
        // A function gives all its results, wanted or not.
        if (f == nullptr && wanted_outputs(a) != wanted_outputs(b)) {
            differ("{} outputs of a node {} become {}", wanted_outputs(a), quoted(a.op_type),
                   wanted_outputs(b));
        }
        compare_inputs(a, b);
        compare_attributes(a, b, f, g);
    }

    void compare_inputs(const ir::Node& a, const ir::Node& b) {
        size_t count = std::max(given_inputs(a), given_inputs(b));
        for (size_t i = 0; i < count; ++i) {
            bool is_condition = i == 1 && ir::is_standard(a, "Loop");
            if (!(is_condition && begins(a, a_) && begins(b, b_))) {
                waiting_.emplace_back(a.input(i), b.input(i));
            }
        }
    }

    // Whether a Loop always begins: it has no condition, or one that is true.
    static bool begins(const ir::Node& loop, const Side& side) {
        const ir::Value* condition = loop.input(1);
        return condition == nullptr || is_true(constant_of(*condition, side.initialized_input()));
    }

    bool are_endless(const ir::Node& a, const ir::Node& b) const {
        return is_endless(a, a_.initialized_input()) && is_endless(b, b_.initialized_input());
    }

    using Attributes = std::map<std::string_view, const ir::Attribute*>;

    // The first of each name.
    static Attributes by_name(const std::vector<ir::Attribute>& attributes) {
        Attributes found;
        for (const ir::Attribute& one : attributes) {
            found.emplace(one.name, &one);
        }
        return found;
    }

    // Those of a call, and what they are where the node does not say it.
    static Attributes with_defaults(Attributes given, const ir::Function* function) {
        if (function != nullptr) {
            given.merge(by_name(function->attribute_defaults));
        }
        return given;
    }

    void compare_attributes(const ir::Node& a, const ir::Node& b, const ir::Function* f,
                            const ir::Function* g) {
        const ops::Schema* schema =
            f == nullptr ? ops::find_schema(a.domain, a.op_type, a_.version_of(a.domain)) : nullptr;
        Attributes of_a = by_name(a.attributes), of_b = by_name(b.attributes);
        std::set<std::string_view> names;
        for (const Attributes* given : {&of_a, &of_b}) {
            for (const auto& [name, one] : *given) {
                names.insert(name);
            }
        }
        of_a = with_defaults(std::move(of_a), f);
        of_b = with_defaults(std::move(of_b), g);
        size_t first_output = are_endless(a, b) ? 1 : 0;
        auto find = [](const Attributes& all, std::string_view name) {
            auto found = all.find(name);
            return found == all.end() ? nullptr : found->second;
        };
        for (std::string_view name : names) {
            const ir::Attribute* x = find(of_a, name);
            const ir::Attribute* y = find(of_b, name);
            if ((x == nullptr || is_default_of(schema, *x)) &&
                (y == nullptr || is_default_of(schema, *y)) && f == nullptr) {
                continue;
            }
            if (x == nullptr || y == nullptr || x->reference != y->reference ||
                !same_value(*x, *y, first_output)) {
                differ("the attribute {} of a node {} changes", quoted(name), quoted(a.op_type));
            }
        }
    }

    bool same_value(const ir::Attribute& x, const ir::Attribute& y, size_t first_output) {
        const auto* g = x.get<ir::Graph*>();
        const auto* h = y.get<ir::Graph*>();
        if (g != nullptr && h != nullptr) {
            compare_signature(**g, **h, first_output);
            return true;
        }
        return x.is_reference() ? x.type == y.type : ir::same_value(x.value, y.value);
    }

    Side a_, b_;
    std::string problem_;
    std::vector<std::pair<const ir::Value*, const ir::Value*>> waiting_;
    std::unordered_map<const ir::Value*, const ir::Value*> to_, from_;
    std::unordered_map<const ir::Node*, const ir::Node*> nodes_;
};

bool same_parameters(const ir::Function& f, const ir::Function& g) {
    auto attributes = [](const ir::Function& function) {
        return std::set<std::string_view>(function.attributes.begin(), function.attributes.end());
    };
    return f.domain == g.domain && attributes(f) == attributes(g) &&
           f.attribute_defaults.size() == g.attribute_defaults.size();
}

}  // namespace

std::string difference(const ir::Model& model, const ir::Model& compiled, bool* loses_shapes) {
    std::set<Comparison::FunctionPair> done;
    std::vector<Comparison::FunctionPair> waiting;
    auto compare = [&](const ir::Function* f, const ir::Function* g) {
        Comparison comparison({model, f}, {compiled, g});
        std::string problem = comparison.compare(f != nullptr ? *f->body : *model.graph,
                                                 g != nullptr ? *g->body : *compiled.graph);
        if (loses_shapes != nullptr) {
            *loses_shapes = *loses_shapes || comparison.loses_shapes;
        }
        for (const Comparison::FunctionPair& pair : comparison.called) {
            if (done.insert(pair).second) {
                waiting.push_back(pair);
            }
        }
        return problem.empty() || f == nullptr
                   ? problem
                   : fmt::format("in the function {}: {}", quoted(f->name), problem);
    };
    if (model.graph == nullptr || compiled.graph == nullptr) {
        return "one of the models has no graph";
    }
    std::string problem = compare(nullptr, nullptr);
    for (const ir::Function* f : model.functions) {
        if (!is_library(model)) {
            break;  // those that are called count
        }
        const ir::Function* g = compiled.find_function(f->domain, f->name, f->overload);
        if (g == nullptr) {
            return fmt::format("the function {} is missing", quoted(f->name));
        }
        if (done.insert({f, g}).second) {
            waiting.emplace_back(f, g);
        }
    }
    while (problem.empty() && !waiting.empty()) {
        auto [f, g] = waiting.back();
        waiting.pop_back();
        problem = same_parameters(*f, *g)
                      ? compare(f, g)
                      : fmt::format("the attributes of the function {} change", quoted(f->name));
    }
    return problem;
}

}  // namespace sardonyx::decompile
