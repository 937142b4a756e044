#include "torch/functional.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "torch/outs.h"
#include "torch/views.h"

namespace sardonyx::torch {
namespace {

// Views of all elements in their order.
constexpr std::string_view kReshapes[] = {
    "alias",        "detach",        "detach_",         "view",
    "reshape",      "_unsafe_view",  "flatten",         "unflatten",
    "unsqueeze",    "squeeze",       "contiguous",      "view_as",
    "to",           "reshape_as",    "_to_copy",        "ravel",
    "dropout",      "lift_fresh",    "clone",           "type_as",
    "atleast_1d",   "atleast_2d",    "atleast_3d",      "positive",
    "view_of",      "split_dim",     "collapse_view",   "cartesian_prod",
    "sum_to_size",  "alpha_dropout", "feature_dropout", "feature_alpha_dropout",
    "resolve_conj", "resolve_neg"};
constexpr std::string_view kSplits[] = {"split",        "split_with_sizes", "chunk",
                                        "unsafe_chunk", "unsafe_split",     "tensor_split",
                                        "hsplit",       "vsplit",           "dsplit"};
constexpr std::string_view kRepeats[] = {"expand", "expand_as", "broadcast_to",
                                         "broadcast_tensors"};
constexpr std::string_view kOverlaps[] = {"unfold", "as_strided"};
constexpr std::string_view kTransposes[] = {
    "transpose", "swapaxes", "swapdims", "t", "numpy_T", "mT", "mH", "adjoint", "matrix_H"};
// Changes of what a tensor looks like, not of its elements: refused.
constexpr std::string_view kOfParts[] = {"real", "imag", "view_as_real", "view_as_complex"};
constexpr std::string_view kNoWrites[] = {"set_", "as_strided_"};

// Normalisation that gives its running statistics new values: the places of these in its arguments,
// of whether it does so (none: always), and of how much the new ones count.
struct Statistics {
    std::string_view target;
    size_t first;
    std::optional<size_t> training;
    size_t momentum;
};
constexpr Statistics kStatistics[] = {
    {"aten::_native_batch_norm_legit.default", 3, 5, 6},
    {"aten::_batch_norm_with_update.default", 3, std::nullopt, 5},
};

constexpr int kMostViews = 1000;
constexpr int64_t kNever = -1;  // no version

template <size_t kCount>
bool has(const std::string_view (&names)[kCount], std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

struct View {
    std::string base;
    Node node;                    // that makes it
    std::optional<int64_t> part;  // of a split
    int64_t seen = 0;             // the version of the base that it was made from
};

class Solver {
  public:
    Solver(Program& program, const IsKnown& is_known, Problem& problem)
        : program_(program), is_known_(is_known), problem_(problem) {
        for (const Node& one : program.nodes) {
            names_.insert(one.name);
        }
        for (const Input& one : program.inputs) {
            names_.insert(one.name);
            if (one.storage != 0) {
                storages_[one.name] = one.storage;
            }
        }
        for (const Weight& one : program.weights) {
            names_.insert(one.name);
            storages_[one.name] = one.storage;
        }
    }

    bool run(Changes& changes) {
        for (const Node& node : program_.nodes) {
            makers_[node.name] = &node;
            if (!node.writes.empty()) {
                write_in_place(node);
            } else {
                Node renamed = node;
                rename_arguments(renamed, reader_);
                nodes_.push_back(std::move(renamed));
                see_view(node);
            }
            if (has_failed_) {
                return false;
            }
        }
        for (Value& one : program_.outputs) {
            rename(one, reader_);
        }
        auto see = [&](const std::string& name) {
            if (versions_[name] != 0) {
                changes.emplace_back(name, read(name));
            }
        };
        for (const Input& one : program_.inputs) {
            see(one.name);
        }
        for (const Weight& one : program_.weights) {
            see(one.name);
        }
        program_.nodes = std::move(nodes_);
        return !has_failed_;
    }

  private:
    void fail(const Node& node, std::string reason) {
        if (!has_failed_) {
            problem_ = {node.place, std::move(reason), "write it without `_`"};
        }
        has_failed_ = true;
    }

    std::string fresh_name(const std::string& name) {
        int64_t& count = counts_[name];
        std::string fresh;
        do {
            fresh = fmt::format("{}_{}", name, ++count);
        } while (!names_.insert(fresh).second);
        return fresh;
    }

    std::string canonical(std::string name) const {
        for (auto found = same_.find(name); found != same_.end(); found = same_.find(name)) {
            name = found->second;
        }
        return name;
    }

    std::string current(const std::string& name) const {
        auto found = current_.find(name);
        return found != current_.end() ? found->second : name;
    }

    bool is_pair(const std::string& name) const { return program_.pairs.count(name) != 0; }

    // What the value is called now; a view whose base was changed is made again.
    std::string read(const std::string& given) {
        std::string name = canonical(given);
        auto found = views_.find(name);
        if (found != views_.end() && depth_ == kMostViews) {
            fail({}, "it writes into views of views, too many of them");
        } else if (found != views_.end()) {
            ++depth_;
            std::string base = read(found->second.base);
            --depth_;
            int64_t version = versions_[found->second.base];
            if (found->second.seen != version) {
                std::string again = make_again(name, found->second, base);
                current_[name] = again;
                ++versions_[name];
                found->second.seen = version;
            }
        }
        return current(name);
    }

    std::string make_again(const std::string& name, const View& view, const std::string& base) {
        Node made = view.node;
        made.name = fresh_name(view.node.name);
        Value& viewed = viewed_argument(made, view.part);
        viewed = Value::none();
        for (Value& one : made.args) {
            rename(one, reader_);
        }
        viewed = Value::ref(base);
        bool is_complex = is_pair(view.node.name);
        std::string result = made.name;
        if (is_complex) {
            program_.pairs.insert(result);
        }
        std::shared_ptr<const Place> place = made.place;
        nodes_.push_back(std::move(made));
        if (!view.part) {
            return result;
        }
        Node part;
        part.name = fresh_name(name);
        part.target = "py::getitem";
        part.args = {Value::ref(result), Value::number(*view.part)};
        part.place = place;
        if (is_complex) {
            program_.pairs.insert(part.name);
            part.is_twice = space_of(view.node.target) != "pairs";
        }
        nodes_.push_back(part);
        return part.name;
    }

    void write(const std::string& given, const std::string& made, const Node& by) {
        std::string name = canonical(given);
        current_[name] = made;
        ++versions_[name];
        auto found = views_.find(name);
        if (found != views_.end() && depth_ == kMostViews) {
            fail(by, "it writes into a view of views, too many of them");
        }
        if (found == views_.end() || has_failed_) {
            return;
        }
        View& view = found->second;
        std::string back = put_back(view, current(view.base), made, by);
        if (has_failed_) {
            return;
        }
        ++depth_;
        write(view.base, back, by);
        --depth_;
        // Where elements lie in several places of the view, it has to be made again.
        std::string_view packet = packet_of(view.node.target);
        bool has_repeats = has(kRepeats, packet) || has(kOverlaps, packet);
        view.seen = has_repeats ? kNever : versions_[view.base];
    }

    std::string emit(std::string_view target, std::vector<Value> args, const Node& by,
                     const std::string& hint) {
        Node node;
        node.name = fresh_name(hint);
        node.target = target;
        node.args = std::move(args);
        node.place = by.place;
        bool has_pair = false;
        each_argument_ref(node,
                          [&](const std::string& name) { has_pair = has_pair || is_pair(name); });
        if (has_pair) {
            program_.pairs.insert(node.name);
            node.is_twice = space_of(target) != "pairs";
        }
        nodes_.push_back(node);
        return node.name;
    }

    // The base with the view's new elements in it.
    std::string put_back(const View& view, const std::string& base, const std::string& made,
                         const Node& by) {
        const Node& node = view.node;
        std::string_view packet = packet_of(node.target);
        std::vector<Value> args(node.args.begin() + 1, node.args.end());
        for (const auto& [name, value] : node.kwargs) {
            args.push_back(value);
        }
        Value old = Value::ref(base), now = Value::ref(made);
        auto with = [&](std::vector<Value> front) {
            front.insert(front.end(), args.begin(), args.end());
            return front;
        };
        auto renamed_with = [&](std::vector<Value> front) {
            front = with(std::move(front));
            for (size_t i = front.size() - args.size(); i < front.size(); ++i) {
                rename(front[i], reader_);
            }
            return front;
        };
        if (node.target == "aten::view.dtype") {
            return emit("sardonyx::put_back_bits", {old, now}, by, view.base);
        }
        if (has(kReshapes, packet)) {
            return emit("sardonyx::put_back", {old, now}, by, view.base);
        }
        if (packet == "permute" || node.target == "prims::transpose.default") {
            return emit_permuted_back(node, args, now, by, view.base);
        }
        if (std::string back = packet == "einsum" ? transpose_back(node.args[0].text) : "";
            !back.empty()) {
            std::vector<Value> turned = {Value::of(Value::Kind::kString, back), Value::list({now})};
            return emit(node.target, std::move(turned), by, view.base);
        }
        if (std::vector<int64_t> axes =
                packet == "einsum" ? axes_of_diagonal(node.args[0].text) : std::vector<int64_t>();
            !axes.empty()) {
            std::vector<Value> places;
            std::transform(axes.begin(), axes.end(), std::back_inserter(places), Value::number);
            return emit("sardonyx::put_back_diagonal", {old, now, Value::list(std::move(places))},
                        by, view.base);
        }
        if (has(kTransposes, packet)) {
            return emit(node.target, with({now}), by, view.base);
        }
        if ((packet == "movedim" || packet == "moveaxis") && args.size() >= 2) {
            return emit(node.target, {now, args[1], args[0]}, by, view.base);
        }
        if (has(kRepeats, packet)) {
            return emit("sardonyx::put_back_repeated", {old, now}, by, view.base);
        }
        if (packet == "unfold") {
            return emit("sardonyx::put_back_windows", renamed_with({old, now}), by, view.base);
        }
        if (packet == "as_strided") {
            return emit("sardonyx::put_back_strided", renamed_with({old, now}), by, view.base);
        }
        if (packet == "linalg_diagonal") {
            std::vector<Value> given = {old, now, Value::number(0), Value::number(-2),
                                        Value::number(-1)};
            for (const auto& [name, value] : node.kwargs) {
                given[name == "offset" ? 2 : name == "dim1" ? 3 : 4] = value;
            }
            return emit("aten::diagonal_scatter.default", std::move(given), by, view.base);
        }
        if (packet == "diagonal") {
            return emit("aten::diagonal_scatter.default", with({old, now}), by, view.base);
        }
        if (has(kOfParts, packet) && is_pair(node.name) != is_pair(view.base)) {
            std::string back =
                emit(fmt::format("pairs::put_back_{}", packet), {old, now}, by, view.base);
            program_.pairs.erase(is_pair(view.base) ? "" : back);
            return back;
        }
        if (packet == "select" || packet == "slice") {
            return emit(fmt::format("aten::{}_scatter.default", packet), renamed_with({old, now}),
                        by, view.base);
        }
        if (packet == "narrow") {
            bool is_at = node.target == "aten::narrow.Tensor";
            return emit(is_at ? "sardonyx::put_back_narrow_at" : "sardonyx::put_back_narrow",
                        renamed_with({old, now}), by, view.base);
        }
        if ((has(kSplits, packet) || packet == "unbind") && view.part) {
            std::string parts = emit(node.target, renamed_with({old}), by, node.name);
            Value dim = Value::number(packet == "hsplit" ? 1 : packet == "dsplit" ? 2 : 0);
            if (node.args.size() > (packet == "unbind" ? 1U : 2U)) {
                dim = node.args.back();
            }
            for (const auto& [name, value] : node.kwargs) {
                dim = name == "dim" ? value : dim;
            }
            std::string_view target =
                packet == "unbind" ? "sardonyx::put_back_row" : "sardonyx::put_back_part";
            return emit(target, {Value::ref(parts), now, Value::number(*view.part), dim}, by,
                        view.base);
        }
        fail(by, fmt::format("it writes into a view that `{}` has made", node.target));
        return {};
    }

    std::string emit_permuted_back(const Node& node, const std::vector<Value>& args,
                                   const Value& now, const Node& by, const std::string& hint) {
        std::vector<Value> back;
        if (!args.empty()) {
            auto rank = static_cast<int64_t>(args[0].items.size());
            back.resize(args[0].items.size());
            int64_t place = 0;
            for (const Value& one : args[0].items) {
                int64_t dim = one.is(Value::Kind::kInt) ? one.integer : rank;
                dim = dim < 0 ? dim + rank : dim;
                if (dim < 0 || dim >= rank) {
                    fail(by, fmt::format("it writes into a view that `{}` has made", node.target));
                    return {};
                }
                back[static_cast<size_t>(dim)] = Value::number(place++);
            }
        }
        return emit(node.target, {now, Value::list(std::move(back))}, by, hint);
    }

    // Notes whether the value is a view of one that the node reads.
    void see_view(const Node& node) {
        if (node.storage == 0) {
            return;
        }
        storages_[node.name] = node.storage;
        // torch notes the storage of the constant, of which each run makes a copy.
        if (node.args.empty() || packet_of(node.target) == "lift_fresh_copy") {
            return;
        }
        auto first_in = [&](const Value& value) {
            std::string first;
            each_ref(value, [&](const std::string& name) {
                auto found = storages_.find(name);
                bool is_in = found != storages_.end() && found->second == node.storage;
                first = first.empty() && is_in ? name : first;
            });
            return first;
        };
        if (node.target != "py::getitem") {
            std::string base = first_in(viewed_argument(node, std::nullopt));
            if (!base.empty()) {
                note(node.name, base, node, std::nullopt);
            }
            return;
        }
        auto maker = makers_.find(node.args[0].text);
        if (maker == makers_.end() || node.args.size() < 2 || maker->second->args.empty()) {
            return;
        }
        std::optional<int64_t> part = node.args[1].integer;
        std::string base = first_in(viewed_argument(*maker->second, part));
        for (const Value& one : maker->second->args) {
            base = base.empty() ? first_in(one) : base;
        }
        if (!base.empty()) {
            note(node.name, base, *maker->second, part);
        }
    }

    void note(const std::string& name, const std::string& base, const Node& maker,
              std::optional<int64_t> part) {
        std::string origin = canonical(base);
        if (origin != name) {
            views_[name] = {origin, maker, part, versions_[origin]};
        }
    }

    // Whether the new elements may be of another type than the tensor that they are written to.
    bool needs_cast(const Node& node, std::string_view target, bool is_truth) const {
        std::set<std::string_view> all;
        each_argument_ref(node, [&all](const std::string& name) { all.insert(name); });
        bool is_other = all.size() > 1 || all.count(target) == 0 || is_truth;
        return !is_pair(node.name) && is_other;
    }

    void write_in_place(const Node& node) {
        std::string_view packet = packet_of(node.target);
        if (has(kNoWrites, packet)) {
            return fail(node, "it changes the shape of a tensor in place");
        }
        if (packet == "resize" || packet == "resize_" || packet == "resize_as_") {
            std::string name = canonical(node.writes);
            bool has_views = views_.count(name) != 0;
            for (const auto& [view, one] : views_) {
                has_views = has_views || one.base == name;
            }
            if (has_views) {
                return fail(node, "it changes the size of a tensor that has views");
            }
        }
        Node made = node;
        rename_arguments(made, reader_);
        std::string target = read(node.writes);
        made.target = functional_overload(node.target, is_known_);
        made.writes.clear();
        std::erase_if(made.kwargs, [](const auto& one) { return one.first == kOut; });
        made.into = needs_cast(made, target, gives_truths(node.target)) ? target : std::string();
        storages_[node.name] = node.storage;
        if (packet != "detach_") {
            nodes_.push_back(std::move(made));
            write(node.writes, node.name, node);
        }
        std::string written = canonical(node.writes);
        if (written != node.name) {
            same_[node.name] = written;
        }
    }

    Program& program_;
    const IsKnown& is_known_;
    Problem& problem_;
    const std::function<std::string(const std::string&)> reader_ = [this](const std::string& name) {
        return read(name);
    };
    bool has_failed_ = false;
    int depth_ = 0;  // of views in views
    std::vector<Node> nodes_;
    std::unordered_set<std::string> names_;
    std::unordered_map<std::string, int64_t> counts_;
    std::unordered_map<std::string, std::string> current_;  // what a value is called now
    std::unordered_map<std::string, std::string> same_;  // results of in-place operators: targets
    std::unordered_map<std::string, int64_t> versions_;
    std::map<std::string, View> views_;
    std::unordered_map<std::string, int64_t> storages_;
    std::unordered_map<std::string, const Node*> makers_;
};

// What writes into the running statistics of a node, after it.
void add_new_statistics(std::vector<Node>& nodes, const std::set<std::string>& taken) {
    const Node node = nodes.back();
    const auto* row =
        std::find_if(std::begin(kStatistics), std::end(kStatistics),
                     [&](const Statistics& one) { return one.target == node.target; });
    if (row == std::end(kStatistics) ||
        node.args.size() <= std::max(row->momentum, row->first + 1)) {
        return;
    }
    if (row->training && node.args[*row->training] != Value::boolean(true)) {
        return;
    }
    std::string name = node.name + "_statistics";
    while (taken.count(name) != 0) {
        name += "_";
    }
    Node made;
    made.name = name;
    made.target = "sardonyx::running_statistics";
    made.args = {node.args[0], node.args[row->first], node.args[row->first + 1],
                 node.args[row->momentum]};
    made.place = node.place;
    nodes.push_back(std::move(made));
    for (size_t i = 0; i < 2; ++i) {
        const Value& one = node.args[row->first + i];
        Node part;
        part.name = fmt::format("{}_{}", name, i);
        part.target = "py::getitem";
        part.args = {Value::ref(name), Value::number(static_cast<int64_t>(i))};
        part.place = node.place;
        Node write;
        write.name = part.name + "_copy";
        write.target = "aten::copy_.default";
        write.args = {one, Value::ref(part.name)};
        write.place = node.place;
        write.writes = one.text;
        nodes.push_back(std::move(part));
        nodes.push_back(std::move(write));
    }
}

}  // namespace

bool remove_mutation(Program& program, const IsKnown& is_known, Changes& changes,
                     Problem& problem) {
    for (Program& body : program.bodies) {
        Changes of_body;
        if (!remove_mutation(body, is_known, of_body, problem)) {
            return false;
        }
        if (!of_body.empty()) {
            problem = {body.nodes.back().place,
                       "a branch or loop changes a tensor from outside of it",
                       "write it without `_`"};
            return false;
        }
    }
    bool has_writes = std::any_of(program.nodes.begin(), program.nodes.end(),
                                  [](const Node& node) { return !node.writes.empty(); });
    return !has_writes || Solver(program, is_known, problem).run(changes);
}

bool gives_statistics(std::string_view overload) {
    return std::any_of(std::begin(kStatistics), std::end(kStatistics),
                       [&](const Statistics& one) { return one.target == overload; });
}

std::vector<Problem> change_statistics(Program& program) {
    std::set<std::string> taken;
    for (const Node& node : program.nodes) {
        taken.insert(node.name);
    }
    std::vector<Node> nodes;
    for (Node& node : program.nodes) {
        nodes.push_back(std::move(node));
        add_new_statistics(nodes, taken);
    }
    program.nodes = std::move(nodes);
    std::set<std::string_view> weights;
    for (const Weight& one : program.weights) {
        weights.insert(one.name);
    }
    std::vector<Problem> found;
    for (const Node& node : program.nodes) {
        bool is_one = node.target == "aten::batch_norm.default" ||
                      node.target == "aten::instance_norm.default";
        if (is_one && node.args.size() >= 6 && node.args[5] == Value::boolean(true) &&
            node.args[3].is_ref() && weights.count(node.args[3].text) != 0) {
            found.push_back(
                {node.place,
                 fmt::format("`{}` in training changes its running statistics", node.target),
                 "export after `module.eval()`"});
        }
    }
    return found;
}

}  // namespace sardonyx::torch
