#include "models/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/stop.h"
#include "decompile/schema_defaults.h"
#include "ir/attribute_text.h"
#include "ir/describe.h"
#include "ir/equal.h"
#include "ir/graph_walk.h"
#include "ir/walk.h"
#include "models/matching.h"
#include "models/statistics.h"
#include "models/values.h"
#include "proto/proto.h"
#include "types/domain.h"

namespace sardonyx::models {
namespace {

std::string value_text(const ir::Value* value) {
    return value == nullptr ? "_" : std::string(value->name);
}

std::string node_text(const ir::Node& node) {
    std::string text;
    for (const ir::Value* output : node.outputs()) {
        text += fmt::format("{}{}", text.empty() ? "" : ", ", value_text(output));
        if (output->type.is_known()) {
            text += ": " + output->type.to_string();
        }
    }
    text += fmt::format(" = {}{}{}{}(", node.domain, node.domain.empty() ? "" : ".", node.op_type,
                        node.overload.empty() ? "" : fmt::format(":{}", node.overload));
    bool is_first = true;
    for (const ir::Use& use : node.inputs()) {
        text += (is_first ? "" : ", ") + value_text(use.value);
        is_first = false;
    }
    for (const ir::Attribute& attribute : node.attributes) {
        bool has_graph = false;
        ir::for_each_subgraph(attribute, [&](const ir::Graph&) { has_graph = true; });
        text += fmt::format("{}{}={}", is_first ? "" : ", ", attribute.name,
                            has_graph ? "{...}" : ir::text_of(attribute));
        is_first = false;
    }
    return text + ")";
}

// How far two tensors of one type and shape are apart.
std::string distance_text(const Tensor& a, const Tensor& b) {
    if (a.element_type() == ElementType::kString) {
        std::optional<Difference> found = difference(a, b, {});
        return fmt::format("{} of {} strings differ", found ? found->beyond : 0, a.count());
    }
    std::optional<Difference> found = difference(a, b, {});
    if (!found || (found->beyond == 0 && found->greatest == 0)) {
        return "bits differ, numbers do not";
    }
    Statistics known = statistics(a);
    double scale = known.has_numbers() ? std::max(-known.least, known.greatest) : 0;
    std::string relative =
        scale > 0 ? fmt::format(" ({:.2g} of the largest)", found->greatest / scale) : "";
    return fmt::format("{} of {} elements differ, by at most {:.4g}{}", found->beyond, a.count(),
                       found->greatest, relative);
}

class GraphDiff {
  public:
    GraphDiff(const ir::Model& a, const ir::Model& b, const DiffOptions& options, ModelDiff& result)
        : model_a_(a), model_b_(b), options_(options), result_(result) {}

    void run(const ir::Graph& a, const ir::Graph& b, const std::string& title,
             const ir::Function* function_a, const ir::Function* function_b) {
        title_ = title;
        function_a_ = function_a;
        function_b_ = function_b;
        size_t place = result_.graphs.size();
        result_.graphs.emplace_back().title = title;
        size_t before = result_.changes.size();
        match_graphs(a, b, matching_);
        compare_inputs(a, b);
        compare_nodes(a, b, place);
        compare_outputs(a, b);
        if (options_.names) {
            compare_text("the graph", "name", a.name, b.name);
            compare_text("the graph", "documentation", a.doc, b.doc);
        }
        result_.graphs[place].differs = result_.changes.size() != before;
    }

  private:
    void add(ChangeKind kind, std::string what, std::string before, std::string after) {
        result_.changes.push_back(
            {kind, title_, std::move(what), std::move(before), std::move(after)});
    }

    void compare_text(const std::string& what, std::string_view part, std::string_view a,
                      std::string_view b) {
        if (a != b) {
            add(ChangeKind::kName, fmt::format("{} of {}", part, what), std::string(a),
                std::string(b));
        }
    }

    static std::string port_text(const ir::Value& value) {
        return fmt::format("{}: {}", value.name, value.type.to_string());
    }

    void compare_inputs(const ir::Graph& a, const ir::Graph& b) {
        for (const ir::Value* input : a.inputs) {
            const ir::Value* other = matching_.of(input);
            if (other == nullptr || !other->is_graph_input()) {
                add(ChangeKind::kInterface, "input", port_text(*input), "");
                continue;
            }
            bool is_main = a.parent() == nullptr;
            if ((is_main && input->name != other->name) || !(input->type == other->type)) {
                add(ChangeKind::kInterface, "input", port_text(*input), port_text(*other));
            }
            compare_tensors(input, other, fmt::format("the default of `{}`", input->name));
        }
        for (const ir::Value* input : b.inputs) {
            if (!matching_.values_back.contains(input)) {
                add(ChangeKind::kInterface, "input", "", port_text(*input));
            }
        }
        for (size_t i = 0; i < std::min(a.inputs.size(), b.inputs.size()); ++i) {
            const ir::Value* other = matching_.of(a.inputs[i]);
            bool has_moved =
                other != nullptr && other != b.inputs[i] && a.inputs.size() == b.inputs.size();
            if (has_moved) {
                add(ChangeKind::kInterface, "order of inputs", names_of(a.inputs),
                    names_of(b.inputs));
                return;
            }
        }
    }

    static std::string names_of(const std::vector<ir::Value*>& values) {
        std::string names;
        for (const ir::Value* value : values) {
            names += fmt::format("{}{}", names.empty() ? "" : ", ", value->name);
        }
        return names;
    }

    void compare_outputs(const ir::Graph& a, const ir::Graph& b) {
        size_t common = std::min(a.outputs.size(), b.outputs.size());
        for (size_t i = 0; i < std::max(a.outputs.size(), b.outputs.size()); ++i) {
            if (i >= common) {
                add(ChangeKind::kInterface, "output",
                    i < a.outputs.size() ? port_text(*a.outputs[i]) : "",
                    i < b.outputs.size() ? port_text(*b.outputs[i]) : "");
                continue;
            }
            const ir::Value &x = *a.outputs[i], &y = *b.outputs[i];
            bool is_main = a.parent() == nullptr;
            if ((is_main && x.name != y.name) || !(x.type == y.type)) {
                add(ChangeKind::kInterface, "output", port_text(x), port_text(y));
            } else if (!same_source(&x, &y)) {
                add(ChangeKind::kEdge, fmt::format("output `{}`", y.name), source_text(x),
                    source_text(y));
            }
        }
    }

    static std::string source_text(const ir::Value& value) {
        return value.producer() != nullptr ? ir::describe(*value.producer())
                                           : fmt::format("`{}`", value.name);
    }

    // Stored tensors are compared by what they hold, others by where they come from.
    bool same_source(const ir::Value* x, const ir::Value* y) {
        if (x == nullptr || y == nullptr) {
            return x == y;
        }
        const Tensor *s = stored_tensor(*x), *t = stored_tensor(*y);
        if (s != nullptr && t != nullptr) {
            compare_tensors(x, y, fmt::format("`{}`", x->name));
            return true;
        }
        if (x->sparse != nullptr && y->sparse != nullptr) {
            compare_sparse(x, y);
            return true;
        }
        return matching_.of(x) == y;
    }

    void compare_sparse(const ir::Value* x, const ir::Value* y) {
        if (!compared_.insert({x, y}).second) {
            return;
        }
        std::string what = fmt::format("`{}`", x->name);
        const ir::SparseTensor &s = *x->sparse, &t = *y->sparse;
        if (options_.names && x->name != y->name) {
            add(ChangeKind::kName, what, std::string(x->name), std::string(y->name));
        }
        if (s.dims != t.dims || !ir::same_tensor(s.values, t.values) ||
            !ir::same_tensor(s.indices, t.indices)) {
            add(ChangeKind::kWeight, what,
                fmt::format("{} elements of {}", s.values.count(), x->type.to_string()),
                fmt::format("{} elements of {}", t.values.count(), y->type.to_string()));
        }
    }

    void compare_tensors(const ir::Value* x, const ir::Value* y, const std::string& what) {
        const Tensor *s = stored_tensor(*x), *t = stored_tensor(*y);
        if ((s == nullptr && t == nullptr) || !compared_.insert({x, y}).second) {
            return;
        }
        if (options_.names && s != nullptr && t != nullptr && x->name != y->name) {
            add(ChangeKind::kName, what, std::string(x->name), std::string(y->name));
        }
        if (s == nullptr || t == nullptr) {
            add(ChangeKind::kWeight, what, s != nullptr ? to_string(*s) : "",
                t != nullptr ? to_string(*t) : "");
        } else if (s->element_type() != t->element_type() || s->dims() != t->dims()) {
            add(ChangeKind::kWeight, what, s->type().to_string(), t->type().to_string());
        } else if (!ir::same_tensor(*s, *t)) {
            constexpr int64_t kFew = 4;
            std::string before = s->count() <= kFew ? to_string(*s) : s->type().to_string();
            std::string after = s->count() <= kFew ? to_string(*t) : distance_text(*s, *t);
            add(ChangeKind::kWeight, what, std::move(before), std::move(after));
        }
    }

    // Constant nodes of tensors are weights: what reads them tells.
    static bool is_weight(const ir::Node& node) {
        return node.output_count() == 1 && stored_tensor(*node.output()) != nullptr;
    }

    // Lines in the order of the second graph; what is removed stands behind what came before it.
    void compare_nodes(const ir::Graph& a, const ir::Graph& b, size_t place) {
        std::vector<const ir::Node*> second;
        std::unordered_map<const ir::Node*, size_t> places;
        for (const ir::Node& node : b) {
            stop_point();
            places.emplace(&node, second.size());
            second.push_back(&node);
        }
        size_t next = 0;
        auto write_up_to = [&](const ir::Node* end) {
            while (next < second.size() && second[next] != end) {
                const ir::Node& node = *second[next++];
                if (matching_.back_of(node) == nullptr) {
                    line(place, DiffLine::Mark::kAdded, nullptr, &node);
                    if (!is_weight(node)) {
                        add(ChangeKind::kAdded, ir::describe(node), "", node_text(node));
                    }
                }
            }
        };
        for (const ir::Node& node : a) {
            stop_point();
            const ir::Node* other = matching_.of(node);
            if (other == nullptr) {
                line(place, DiffLine::Mark::kRemoved, &node, nullptr);
                if (!is_weight(node)) {
                    add(ChangeKind::kRemoved, ir::describe(node), node_text(node), "");
                }
                continue;
            }
            if (places.at(other) >= next) {
                write_up_to(other);
                ++next;
            }
            size_t before = result_.changes.size();
            compare_node(node, *other);
            bool has_changed = result_.changes.size() != before;
            line(place, has_changed ? DiffLine::Mark::kChanged : DiffLine::Mark::kSame, &node,
                 other);
        }
        write_up_to(nullptr);
    }

    void line(size_t place, DiffLine::Mark mark, const ir::Node* a, const ir::Node* b) {
        result_.graphs[place].lines.push_back(
            {mark, a != nullptr ? node_text(*a) : "", b != nullptr ? node_text(*b) : "", a, b});
    }

    void compare_node(const ir::Node& a, const ir::Node& b) {
        std::string what = ir::describe(a);
        if (a.domain != b.domain || a.op_type != b.op_type || a.overload != b.overload) {
            add(ChangeKind::kOperator, what, node_text(a), node_text(b));
        }
        for (size_t i = 0; i < std::max(a.input_count(), b.input_count()); ++i) {
            const ir::Value *x = a.input(i), *y = b.input(i);
            if (!same_source(x, y)) {
                add(ChangeKind::kEdge, fmt::format("input {} of {}", i, what),
                    x != nullptr ? source_text(*x) : "", y != nullptr ? source_text(*y) : "");
            }
        }
        if (!is_weight(a) || !is_weight(b)) {
            compare_attributes(a, b, what);
        }
        for (size_t i = 0; i < std::max(a.output_count(), b.output_count()); ++i) {
            compare_result(a.output(i), b.output(i), what);
        }
        if (options_.names) {
            compare_text(what, "name", a.name, b.name);
            compare_text(what, "documentation", a.doc, b.doc);
        }
    }

    void compare_result(const ir::Value* x, const ir::Value* y, const std::string& what) {
        if (x == nullptr || y == nullptr || x->name.empty() != y->name.empty()) {
            add(ChangeKind::kInterface, "outputs of " + what, value_text(x), value_text(y));
            return;
        }
        if (x->type.is_known() && y->type.is_known() && !(x->type == y->type) &&
            !ir::is_graph_output(*x)) {
            add(ChangeKind::kType, fmt::format("`{}`", x->name), x->type.to_string(),
                y->type.to_string());
        }
        if (options_.names && x->name != y->name) {
            add(ChangeKind::kName, fmt::format("`{}`", x->name), std::string(x->name),
                std::string(y->name));
        }
    }

    const ops::Schema* schema_of(const ir::Node& node, const ir::Model& model,
                                 const ir::Function* function) const {
        int64_t version = function != nullptr
                              ? ir::opset_version(function->opset_imports, node.domain)
                              : model.opset_version(node.domain);
        return ops::find_schema(node.domain, node.op_type, version);
    }

    static std::string attribute_text(const ir::Attribute* attribute) {
        return attribute != nullptr ? ir::text_of(*attribute) : "";
    }

    void compare_attributes(const ir::Node& a, const ir::Node& b, const std::string& what) {
        std::set<std::string_view> names;
        for (const ir::Node* node : {&a, &b}) {
            for (const ir::Attribute& one : node->attributes) {
                names.insert(one.name);
            }
        }
        for (std::string_view name : names) {
            const ir::Attribute *x = a.find_attribute(name), *y = b.find_attribute(name);
            bool is_nothing =
                (x == nullptr ||
                 decompile::is_default_of(schema_of(a, model_a_, function_a_), *x)) &&
                (y == nullptr || decompile::is_default_of(schema_of(b, model_b_, function_b_), *y));
            if (is_nothing || (x != nullptr && y != nullptr && same_attribute(a, *x, *y))) {
                continue;
            }
            std::string part = fmt::format("attribute `{}` of {}", name, what);
            const Tensor* s = x != nullptr ? x->get<Tensor>() : nullptr;
            const Tensor* t = y != nullptr ? y->get<Tensor>() : nullptr;
            bool is_far = s != nullptr && t != nullptr && s->element_type() == t->element_type() &&
                          s->dims() == t->dims() && s->count() > 4;
            add(ChangeKind::kAttribute, part, attribute_text(x),
                is_far ? distance_text(*s, *t) : attribute_text(y));
        }
    }

    bool same_attribute(const ir::Node& node, const ir::Attribute& x, const ir::Attribute& y) {
        std::vector<const ir::Graph*> first, second;
        ir::for_each_subgraph(x, [&](const ir::Graph& graph) { first.push_back(&graph); });
        ir::for_each_subgraph(y, [&](const ir::Graph& graph) { second.push_back(&graph); });
        if (first.empty() || first.size() != second.size()) {
            return x.type == y.type && x.reference == y.reference &&
                   ir::same_value(x.value, y.value);
        }
        std::string title = title_;
        const ir::Function *function_a = function_a_, *function_b = function_b_;
        for (size_t i = 0; i < first.size(); ++i) {
            run(*first[i], *second[i],
                fmt::format("`{}` of {} in {}", x.name, ir::describe(node), title), function_a,
                function_b);
        }
        title_ = std::move(title);
        return true;
    }

    const ir::Model& model_a_;
    const ir::Model& model_b_;
    const DiffOptions& options_;
    ModelDiff& result_;
    Matching matching_;
    std::set<std::pair<const ir::Value*, const ir::Value*>> compared_;
    std::string title_;
    const ir::Function* function_a_ = nullptr;
    const ir::Function* function_b_ = nullptr;
};

// --- Models --------------------------------------------------------------------------------------

using Table = std::map<std::string, std::string>;

class Comparer {
  public:
    Comparer(const ir::Model& a, const ir::Model& b, const DiffOptions& options)
        : a_(a), b_(b), options_(options) {}

    ModelDiff run() {
        compare_headers();
        if (a_.graph != nullptr && b_.graph != nullptr) {
            GraphDiff(a_, b_, options_, result_)
                .run(*a_.graph, *b_.graph, "the graph", nullptr, nullptr);
        } else if (a_.graph != b_.graph) {
            header("graph", a_.graph != nullptr ? std::string(a_.graph->name) : "",
                   b_.graph != nullptr ? std::string(b_.graph->name) : "");
        }
        compare_functions();
        return std::move(result_);
    }

  private:
    void header(std::string what, std::string before, std::string after) {
        if (before != after) {
            result_.changes.push_back({ChangeKind::kHeader, "the model", std::move(what),
                                       std::move(before), std::move(after)});
        }
    }

    static Table opsets_of(const std::vector<ir::OpsetImport>& imports) {
        Table table;
        for (const ir::OpsetImport& one : imports) {
            table[std::string(shown_domain(one.domain))] = std::to_string(one.version);
        }
        return table;
    }

    static Table metadata_of(const ir::Metadata& metadata) {
        Table table;
        for (const auto& [key, value] : metadata) {
            table[std::string(key)] = value;
        }
        return table;
    }

    void compare_tables(const std::string& what, Table a, Table b) {
        std::set<std::string> keys;
        for (const Table* table : {&a, &b}) {
            for (const auto& [key, value] : *table) {
                keys.insert(key);
            }
        }
        for (const std::string& key : keys) {
            header(fmt::format("{} {}", what, key), a[key], b[key]);
        }
    }

    void compare_headers() {
        compare_tables("opset", opsets_of(a_.opset_imports), opsets_of(b_.opset_imports));
        compare_tables("metadata", metadata_of(a_.metadata), metadata_of(b_.metadata));
        if (options_.names) {
            header("IR version", std::to_string(proto::needed_ir_version(a_)),
                   std::to_string(proto::needed_ir_version(b_)));
            header("producer", std::string(a_.producer_name), std::string(b_.producer_name));
            header("producer's version", std::string(a_.producer_version),
                   std::string(b_.producer_version));
            header("domain", std::string(a_.domain), std::string(b_.domain));
            header("version", std::to_string(a_.model_version), std::to_string(b_.model_version));
            header("documentation", std::string(a_.doc), std::string(b_.doc));
        }
    }

    static std::string key_of(const ir::Function& function) {
        return fmt::format("{}:{}{}{}", shown_domain(function.domain), function.name,
                           function.overload.empty() ? "" : ":", function.overload);
    }

    static std::string signature_of(const ir::Function& function) {
        std::string text;
        for (std::string_view name : function.attributes) {
            text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
        }
        for (const ir::Attribute& one : function.attribute_defaults) {
            text += fmt::format("{}{}={}", text.empty() ? "" : ", ", one.name, ir::text_of(one));
        }
        return text;
    }

    void compare_functions() {
        for (const ir::Function* one : a_.functions) {
            const ir::Function* other = b_.find_function(one->domain, one->name, one->overload);
            if (other == nullptr) {
                result_.changes.push_back(
                    {ChangeKind::kRemoved, "the model", "function", key_of(*one), ""});
                continue;
            }
            header(fmt::format("attributes of function `{}`", key_of(*one)), signature_of(*one),
                   signature_of(*other));
            compare_tables(fmt::format("opset of function `{}`:", key_of(*one)),
                           opsets_of(one->opset_imports), opsets_of(other->opset_imports));
            GraphDiff(a_, b_, options_, result_)
                .run(*one->body, *other->body, fmt::format("function `{}`", key_of(*one)), one,
                     other);
        }
        for (const ir::Function* one : b_.functions) {
            if (a_.find_function(one->domain, one->name, one->overload) == nullptr) {
                result_.changes.push_back(
                    {ChangeKind::kAdded, "the model", "function", "", key_of(*one)});
            }
        }
    }

    const ir::Model& a_;
    const ir::Model& b_;
    const DiffOptions& options_;
    ModelDiff result_;
};

}  // namespace

std::string_view name(ChangeKind kind) {
    constexpr std::string_view kNames[] = {"header",   "interface", "added", "removed",
                                           "operator", "attribute", "edge",  "weight",
                                           "type",     "name"};
    return kNames[static_cast<size_t>(kind)];
}

ModelDiff diff(const ir::Model& a, const ir::Model& b, const DiffOptions& options) {
    return Comparer(a, b, options).run();
}

}  // namespace sardonyx::models
