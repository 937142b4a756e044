#include "torch/batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sardonyx::torch {
namespace {

// Each element of the result depends on the elements at its place.
constexpr std::string_view kElementwise[] = {
    "__and__", "__or__",       "__xor__",     "_to_copy",    "abs",        "add",
    "alias",   "atan2",        "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor",
    "ceil",    "clamp",        "clamp_max",   "clamp_min",   "clone",      "contiguous",
    "cos",     "detach",       "div",         "eq",          "erf",        "exp",
    "floor",   "floor_divide", "fmod",        "full_like",   "ge",         "gelu",
    "gt",      "isfinite",     "isinf",       "isnan",       "le",         "lift_fresh",
    "log",     "log1p",        "logical_and", "logical_not", "logical_or", "logical_xor",
    "lt",      "masked_fill",  "maximum",     "minimum",     "mul",        "ne",
    "neg",     "ones_like",    "pow",         "reciprocal",  "relu",       "remainder",
    "round",   "rsqrt",        "rsub",        "sigmoid",     "sign",       "silu",
    "sin",     "sqrt",         "square",      "sub",         "tan",        "tanh",
    "to",      "true_divide",  "trunc",       "where",       "zeros_like"};

// Operators along axes, and which of their arguments say along which.
struct Along {
    std::string_view overload;
    size_t first;
    size_t count = 1;
};
constexpr Along kAlong[] = {
    {"aten::all.dim", 1},         {"aten::amax.default", 1},     {"aten::amin.default", 1},
    {"aten::any.dim", 1},         {"aten::argmax.default", 1},   {"aten::argmin.default", 1},
    {"aten::cumsum.default", 1},  {"aten::flip.default", 1},     {"aten::log_softmax.int", 1},
    {"aten::mean.dim", 1},        {"aten::prod.dim_int", 1},     {"aten::select.int", 1},
    {"aten::slice.Tensor", 1},    {"aten::softmax.int", 1},      {"aten::squeeze.dim", 1},
    {"aten::sum.dim_IntList", 1}, {"aten::transpose.int", 1, 2}, {"aten::unsqueeze.default", 1},
};
// Reductions of all axes, and those of some.
constexpr std::pair<std::string_view, std::string_view> kReductions[] = {
    {"aten::all.default", "aten::all.dims"},     {"aten::any.default", "aten::any.dims"},
    {"aten::max.default", "aten::amax.default"}, {"aten::mean.default", "aten::mean.dim"},
    {"aten::min.default", "aten::amin.default"}, {"aten::sum.default", "aten::sum.dim_IntList"},
};
constexpr std::string_view kProducts[] = {"bmm", "dot", "matmul", "mm", "mv"};

bool is_elementwise(std::string_view packet) {
    return std::find(std::begin(kElementwise), std::end(kElementwise), packet) !=
           std::end(kElementwise);
}

// The number of axes of a type; nothing: it is no tensor.
std::optional<int64_t> rank_of(std::string_view type) {
    if (type.empty() || type == kIntInput) {
        return std::nullopt;
    }
    return type.find('[') == std::string_view::npos ? 0
                                                    : std::count(type.begin(), type.end(), ',') + 1;
}

// A tensor of a batch: the axes of its levels come first, in their order, then those of an element.
struct Batch {
    std::string name;             // of the whole
    std::vector<int64_t> levels;  // empty: all elements have the same tensor
    int64_t rank = 0;             // of an element
    std::string element_type;

    int64_t count() const { return static_cast<int64_t>(levels.size()); }
};

std::vector<int64_t> united(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
    std::vector<int64_t> all;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
    return all;
}

class Batcher {
  public:
    Batcher(Values& values, Renames& renames) : values_(values), renames_(renames) {}

    bool run(const std::vector<Node>& region) {
        for (const Node& one : region) {
            Node node = one;
            node_ = &one;
            std::string_view mark = space_of(node.target) == "vmap" ? packet_of(node.target) : "";
            bool is_done = mark == "_vmap_increment_nesting"    ? enter(node)
                           : mark == "_add_batch_dim"           ? add(node)
                           : mark == "_remove_batch_dim"        ? remove(node)
                           : mark == "_vmap_decrement_nesting"  ? true
                           : mark == "lazy_load_decompositions" ? true
                                                                : mark.empty() && operate(node);
            if (!is_done) {
                return false;
            }
        }
        for (const Node& one : nodes_) {
            values_.set_type(one.name, one.type);
        }
        renames_.merge(renamed_);
        return true;
    }
    std::vector<Node> take() { return std::move(nodes_); }

  private:
    // --- Values

    // Nothing: it is no tensor.
    std::optional<Batch> batch_of(const Value& value) const {
        if (!value.is_ref()) {
            return std::nullopt;
        }
        auto found = batches_.find(value.text);
        if (found != batches_.end()) {
            return found->second;
        }
        const std::string& type = values_.facts(value.text).type;
        std::optional<int64_t> rank = rank_of(type);
        if (!rank) {
            return std::nullopt;
        }
        return Batch{name_now(value.text), {}, *rank, std::string(element_type_of(type))};
    }
    // Of the first argument, which files may give by its name.
    std::optional<Batch> first_batch(const Node& node) const {
        return node.args.empty() ? std::nullopt : batch_of(node.args[0]);
    }
    bool has_batches(const Node& node) const {
        bool has_some = false;
        each_argument_ref(node, [&](const std::string& name) {
            has_some = has_some || batches_.count(name) != 0;
        });
        return has_some;
    }
    std::string name_now(const std::string& name) const {
        auto found = renamed_.find(name);
        return found != renamed_.end() ? found->second : name;
    }
    void set(const std::string& name, Batch batch) {
        if (batch.levels.empty()) {  // a result, which has the mark's type
            renamed_[name] = batch.name;
            auto made = std::find_if(nodes_.rbegin(), nodes_.rend(),
                                     [&batch](const Node& one) { return one.name == batch.name; });
            if (made != nodes_.rend()) {
                made->type = node_->type;
            }
            return;
        }
        batch.element_type = element_type_of(node_->type);
        batches_[name] = std::move(batch);
    }

    // --- Nodes

    std::string emit(std::string_view target, std::vector<Value> args, std::string name = {}) {
        Node node;
        node.storage = name.empty() ? 0 : node_->storage;
        node.name = name.empty() ? values_.fresh_name(node_->name + "_batch") : std::move(name);
        node.target = target;
        node.args = std::move(args);
        node.place = node_->place;
        nodes_.push_back(std::move(node));
        return nodes_.back().name;
    }
    // The node as it is, of whole batches.
    void keep(Node node, std::vector<int64_t> levels, int64_t rank) {
        Batch made{node.name, std::move(levels), rank, {}};
        std::string name = node.name;
        if (!made.levels.empty()) {
            node.type.clear();
        }
        nodes_.push_back(std::move(node));
        set(name, std::move(made));
    }
    void keep_as_it_is(Node node) {
        rename_arguments(node, [this](const std::string& name) { return name_now(name); });
        nodes_.push_back(std::move(node));
    }

    Value moved(const std::string& name, int64_t from, int64_t to) {
        return from == to
                   ? Value::ref(name)
                   : Value::ref(emit("aten::movedim.int",
                                     {Value::ref(name), Value::number(from), Value::number(to)}));
    }

    // The tensor with an axis for each of the levels, and `rank` axes of an element, as far as
    // broadcasting needs them.
    Value aligned(const Batch& batch, const std::vector<int64_t>& levels, int64_t rank) {
        std::vector<bool> has;
        for (int64_t level : levels) {
            has.push_back(std::find(batch.levels.begin(), batch.levels.end(), level) !=
                          batch.levels.end());
        }
        has.insert(has.end(), static_cast<size_t>(rank - batch.rank), false);
        has.insert(has.end(), static_cast<size_t>(batch.rank), true);
        auto first = std::find(has.begin(), has.end(), true);
        std::string name = batch.name;
        for (auto one = first; one != has.end(); ++one) {
            if (!*one) {
                name = emit("aten::unsqueeze.default",
                            {Value::ref(name), Value::number(std::distance(first, one))});
            }
        }
        return Value::ref(name);
    }

    // --- Marks

    bool enter(const Node& node) { return node.args.size() == 2 && node.args[1].text == "error"; }

    bool add(const Node& node) {
        std::optional<Batch> from = first_batch(node);
        if (!from || node.args.size() != 3 || node.args[1].kind != Value::Kind::kInt) {
            return false;
        }
        int64_t level = node.args[2].integer, at = node.args[1].integer;
        at += at < 0 ? from->rank : 0;
        if (from->rank == 0 || (!from->levels.empty() && from->levels.back() >= level)) {
            return false;
        }
        from->name = moved(from->name, from->count() + at, from->count()).text;
        from->levels.push_back(level);
        --from->rank;
        set(node.name, std::move(*from));
        return true;
    }

    bool remove(const Node& node) {
        std::optional<Batch> from = node.args.size() == 4 ? batch_of(node.args[0]) : std::nullopt;
        if (!from || node.args[3].kind != Value::Kind::kInt) {
            return false;
        }
        int64_t to = node.args[3].integer;
        to += to < 0 ? from->rank + 1 : 0;
        auto found = std::find(from->levels.begin(), from->levels.end(), node.args[1].integer);
        if (found != from->levels.end()) {
            int64_t at = std::distance(from->levels.begin(), found);
            from->levels.erase(found);
            from->name = moved(from->name, at, from->count() + to).text;
        } else {
            int64_t at = from->count() + to;
            std::string one =
                emit("aten::unsqueeze.default", {Value::ref(from->name), Value::number(at)});
            std::vector<Value> sizes(static_cast<size_t>(from->count() + from->rank + 1),
                                     Value::number(-1));
            sizes[static_cast<size_t>(at)] = node.args[2];
            from->name =
                emit("aten::expand.default", {Value::ref(one), Value::list(std::move(sizes))});
        }
        ++from->rank;
        set(node.name, std::move(*from));
        return true;
    }

    // --- Operators

    bool operate(Node& node) {
        if (!node.writes.empty() || node.takes_pairs) {
            return false;
        }
        if (!has_batches(node)) {
            keep_as_it_is(std::move(node));
            return true;
        }
        std::string_view packet = packet_of(node.target);
        if (space_of(node.target) == "py") {
            return node.target == "py::size" && size(node);
        }
        if (space_of(node.target) != "aten") {
            return false;
        }
        if (is_elementwise(packet)) {
            return elementwise(node);
        }
        if (node.target == "aten::index.Tensor") {
            return index(node);
        }
        if (std::find(std::begin(kProducts), std::end(kProducts), packet) != std::end(kProducts)) {
            return product(node);
        }
        return node.target == "aten::linear.default" ? linear(node)
                                                     : along(node) || reduction(node);
    }

    bool size(Node& node) {
        std::optional<Batch> of = node.args.size() == 2 ? batch_of(node.args[0]) : std::nullopt;
        if (!of || node.args[1].kind != Value::Kind::kInt) {
            return false;
        }
        int64_t& at = node.args[1].integer;
        at += at >= 0 ? of->count() : 0;
        node.args[0] = Value::ref(of->name);
        nodes_.push_back(std::move(node));
        return true;
    }

    // The tensors among the arguments from `first` on; nothing: one of them is not known.
    bool operands(const Node& node, std::vector<Batch>& found) const {
        for (const Value& one : node.args) {
            if (one.is_sequence()) {
                return false;
            }
            std::optional<Batch> batch = batch_of(one);
            if (batch) {
                found.push_back(std::move(*batch));
            }
        }
        return std::none_of(node.kwargs.begin(), node.kwargs.end(), [this](const auto& one) {
            return one.second.is_ref() && batch_of(one.second).has_value();
        });
    }

    // Whether the types of the operands decide as for single elements: PyTorch asks whether a
    // tensor has axes, which a number of each element has not, but those of all have.
    static bool keeps_types(const std::vector<Batch>& all, std::string_view packet) {
        auto first = all.begin();
        if (packet == "where" || (packet == "masked_fill" && all.size() > 1)) {
            ++first;
        }
        bool is_one_type = std::all_of(first, all.end(), [&](const Batch& one) {
            return one.element_type == first->element_type && !one.element_type.empty();
        });
        bool have_axes =
            std::all_of(first, all.end(), [](const Batch& one) { return one.rank > 0; });
        bool have_none = std::all_of(first, all.end(), [](const Batch& one) {
            return one.rank == 0 && !one.levels.empty();
        });
        return is_one_type || have_axes || have_none || packet == "masked_fill";
    }

    bool elementwise(Node& node) {
        std::vector<Batch> all;
        if (!operands(node, all) || all.empty() || !keeps_types(all, packet_of(node.target))) {
            return false;
        }
        std::vector<int64_t> levels;
        int64_t rank = 0;
        for (const Batch& one : all) {
            levels = united(levels, one.levels);
            rank = std::max(rank, one.rank);
        }
        for (Value& one : node.args) {
            if (std::optional<Batch> batch = batch_of(one)) {
                one = aligned(*batch, levels, rank);
            }
        }
        keep(std::move(node), std::move(levels), rank);
        return true;
    }

    // Of tensors of places for the first axes.
    bool index(Node& node) {
        std::optional<Batch> of = node.args.size() == 2 ? batch_of(node.args[0]) : std::nullopt;
        if (!of || !node.args[1].is_sequence()) {
            return false;
        }
        std::vector<Batch> places;
        std::vector<int64_t> levels = of->levels;
        int64_t rank = 0;
        for (const Value& one : node.args[1].items) {
            std::optional<Batch> place = batch_of(one);
            if (!place || (place->element_type != "INT64" && place->element_type != "INT32")) {
                return false;
            }
            levels = united(levels, place->levels);
            rank = std::max(rank, place->rank);
            places.push_back(std::move(*place));
        }
        std::vector<Value> all;
        for (size_t i = 0; i < of->levels.size(); ++i) {
            std::string size =
                emit("py::size", {Value::ref(of->name), Value::number(static_cast<int64_t>(i))});
            std::string rows = emit("aten::arange.default", {Value::ref(size)});
            all.push_back(aligned(Batch{rows, {of->levels[i]}, 0, "INT64"}, levels, rank));
        }
        for (const Batch& one : places) {
            all.push_back(aligned(one, levels, rank));
        }
        int64_t rest = of->rank - static_cast<int64_t>(places.size());
        node.args = {Value::ref(of->name), Value::list(std::move(all))};
        keep(std::move(node), std::move(levels), rank + rest);
        return true;
    }

    bool along(Node& node) {
        const auto* rule =
            std::find_if(std::begin(kAlong), std::end(kAlong),
                         [&](const Along& one) { return one.overload == node.target; });
        std::optional<int64_t> rank = rank_of(node.type);
        std::optional<Batch> of = first_batch(node);
        bool is_unsqueeze = node.target == "aten::unsqueeze.default";
        if (rule == std::end(kAlong) || !rank || !of || of->levels.empty() ||
            (of->rank == 0 && !is_unsqueeze) || node.args.size() < rule->first + rule->count) {
            return false;
        }
        for (size_t i = 0; i < rule->count; ++i) {
            if (!shift(node.args[rule->first + i], of->count())) {
                return false;
            }
        }
        for (size_t i = 1; i < node.args.size(); ++i) {
            if (batch_of(node.args[i])) {
                return false;
            }
        }
        node.args[0] = Value::ref(of->name);
        keep(std::move(node), of->levels, *rank);
        return true;
    }

    // Axes of an element as those of the whole; those that are counted from the end stay.
    static bool shift(Value& axes, int64_t by) {
        if (axes.is_sequence()) {
            return !axes.items.empty() && std::all_of(axes.items.begin(), axes.items.end(),
                                                      [by](Value& one) { return shift(one, by); });
        }
        axes.integer += axes.integer >= 0 ? by : 0;
        return axes.kind == Value::Kind::kInt;
    }

    bool reduction(Node& node) {
        const auto* rule = std::find_if(std::begin(kReductions), std::end(kReductions),
                                        [&](const auto& one) { return one.first == node.target; });
        std::optional<Batch> of = first_batch(node);
        if (rule == std::end(kReductions) || !of || of->rank == 0 || node.args.size() != 1) {
            return false;
        }
        std::vector<Value> axes;
        for (int64_t i = of->rank; i > 0; --i) {
            axes.push_back(Value::number(-i));
        }
        node.target = rule->second;
        node.args = {Value::ref(of->name), Value::list(std::move(axes))};
        keep(std::move(node), of->levels, 0);
        return true;
    }

    // --- Products of matrices and vectors

    bool product(Node& node) {
        std::optional<Batch> a = first_batch(node);
        std::optional<Batch> b = node.args.size() == 2 ? batch_of(node.args[1]) : std::nullopt;
        if (!a || !b || a->rank == 0 || b->rank == 0) {
            return false;
        }
        Batch made = product(*a, *b);
        made.name = emit("aten::alias.default", {Value::ref(made.name)}, node.name);
        set(node.name, std::move(made));
        return true;
    }

    Batch product(Batch a, Batch b) {
        bool is_row = a.rank == 1, is_column = b.rank == 1;
        if (is_row) {
            a.name = emit("aten::unsqueeze.default", {Value::ref(a.name), Value::number(-2)});
            ++a.rank;
        }
        if (is_column) {
            b.name = emit("aten::unsqueeze.default", {Value::ref(b.name), Value::number(-1)});
            ++b.rank;
        }
        Batch made{{}, united(a.levels, b.levels), std::max(a.rank, b.rank), a.element_type};
        made.name = emit("aten::matmul.default",
                         {aligned(a, made.levels, made.rank), aligned(b, made.levels, made.rank)});
        if (is_row) {
            made.name = emit("aten::squeeze.dim", {Value::ref(made.name), Value::number(-2)});
            --made.rank;
        }
        if (is_column) {
            made.name = emit("aten::squeeze.dim", {Value::ref(made.name), Value::number(-1)});
            --made.rank;
        }
        return made;
    }

    bool linear(Node& node) {
        std::optional<Batch> x = batch_of(node.args[0]);
        std::optional<Batch> weight = batch_of(node.args[1]);
        std::optional<Batch> bias = node.args.size() > 2 ? batch_of(node.args[2]) : std::nullopt;
        if (!x || !weight || x->rank == 0 || weight->rank != 2) {
            return false;
        }
        if (weight->levels.empty() && (!bias || bias->levels.empty())) {
            node.args[0] = Value::ref(x->name);
            keep(std::move(node), x->levels, x->rank);
            return true;
        }
        weight->name = emit("aten::transpose.int",
                            {Value::ref(weight->name), Value::number(-2), Value::number(-1)});
        Batch made = product(*x, *weight);
        std::string_view last = "aten::alias.default";
        std::vector<Value> args = {Value::ref(made.name)};
        if (bias) {
            std::vector<int64_t> levels = united(made.levels, bias->levels);
            args = {aligned(made, levels, made.rank), aligned(*bias, levels, made.rank)};
            made.levels = levels;
            last = "aten::add.Tensor";
        }
        made.name = emit(last, std::move(args), node.name);
        set(node.name, std::move(made));
        return true;
    }

    Values& values_;
    Renames& renames_;
    Renames renamed_;
    const Node* node_ = nullptr;
    std::map<std::string, Batch, std::less<>> batches_;
    std::vector<Node> nodes_;
};

}  // namespace

Values::Values(const Program& program) {
    auto add = [this](const auto& one) {
        facts_[one.name] = {one.type, one.storage};
        taken_.insert(one.name);
    };
    std::for_each(program.inputs.begin(), program.inputs.end(), add);
    std::for_each(program.weights.begin(), program.weights.end(), add);
    std::for_each(program.nodes.begin(), program.nodes.end(), add);
    for (const Program& body : program.bodies) {
        taken_.insert(body.name);
    }
}

const ValueFacts& Values::facts(std::string_view name) const {
    static const ValueFacts none;
    auto found = facts_.find(name);
    return found != facts_.end() ? found->second : none;
}

std::string Values::fresh_name(std::string name) {
    return torch::fresh_name(taken_, std::move(name));
}

std::optional<std::vector<Node>> batched(const std::vector<Node>& region, Values& values,
                                         Renames& renames) {
    Batcher batcher(values, renames);
    return batcher.run(region) ? std::optional(batcher.take()) : std::nullopt;
}

}  // namespace sardonyx::torch
