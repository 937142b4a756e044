#include "torch/vmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include "torch/batches.h"

namespace sardonyx::torch {
namespace {

constexpr std::string_view kBegin = "_vmap_increment_nesting";
constexpr std::string_view kEnd = "_vmap_decrement_nesting";
constexpr std::string_view kAdd = "_add_batch_dim";
constexpr std::string_view kRemove = "_remove_batch_dim";
constexpr std::string_view kMarks[] = {kBegin, kEnd, kAdd, kRemove, "lazy_load_decompositions"};

bool is_mark(const Node& node, std::string_view name) {
    return space_of(node.target) == "vmap" && packet_of(node.target) == name;
}
bool begins(const Node& node) {
    return is_mark(node, kBegin);
}
bool ends(const Node& node) {
    return is_mark(node, kEnd);
}
// A mark, and not an operator of somebody's namespace `vmap`.
bool is_mark(const Node& node) {
    return !node.target.empty() && vmap_target(packet_of(node.target)) == node.target;
}
// Whether a mark has the arguments that torch gives it; other nodes have.
bool is_whole(const Node& node) {
    size_t least = is_mark(node, kAdd) ? 3 : is_mark(node, kRemove) ? 4 : 0;
    return node.args.size() >= least;
}

// The names of what a program depends on: a write in place counts where its storage is read later,
// or comes from outside.
std::unordered_set<std::string> live_names(const Program& program) {
    std::unordered_set<std::string> live;
    std::unordered_set<int64_t> storages;
    for (const Input& one : program.inputs) {
        storages.insert(one.storage);
    }
    for (const Weight& one : program.weights) {
        storages.insert(one.storage);
    }
    storages.insert(0);  // not known
    auto use = [&live](const std::string& name) { live.insert(name); };
    for (const Value& one : program.outputs) {
        each_ref(one, use);
    }
    for (size_t i = program.nodes.size(); i-- > 0;) {
        const Node& node = program.nodes[i];
        bool is_live = live.count(node.name) != 0 ||
                       (!node.writes.empty() && storages.count(node.storage) != 0);
        if (is_live) {
            live.insert(node.name);
            storages.insert(node.storage);
            each_argument_ref(node, use);
        }
    }
    return live;
}

// A region as a loop over the elements of its outermost level.
class Loop {
  public:
    Loop(const std::vector<Node>& region, Program& program, Values& values)
        : region_(region), program_(program), values_(values) {}

    // Why there is none; empty: it has been written to `nodes`.
    std::string write(std::vector<Node>& nodes) {
        if (region_.front().args.size() > 1 && region_.front().args[1].text == "same") {
            return "`torch.vmap` with the same random numbers for all elements";
        }
        read();
        if (std::string reason = reason_against(); !reason.empty()) {
            return reason;
        }
        body_.name = values_.fresh_name("vmap_body");
        Node scan;
        scan.name = values_.fresh_name("vmap");
        scan.target = "hop::scan";
        scan.place = region_.front().place;
        scan.args = {Value::of(Value::Kind::kBody, body_.name), Value::list({}),
                     Value::list(rows(nodes)), Value::list(given_),
                     Value::number(static_cast<int64_t>(results_.size()))};
        std::string all = scan.name;
        nodes.push_back(std::move(scan));
        write_results(all, nodes);
        program_.bodies.push_back(std::move(body_));
        return {};
    }

  private:
    void read() {
        int64_t depth = 0;
        for (const Node& node : region_) {
            depth += begins(node) ? 1 : 0;
            bool is_outer = depth == 1;
            depth -= ends(node) ? 1 : 0;
            made_.insert(node.name);
            if (is_outer && is_mark(node, kAdd)) {
                rows_.push_back(&node);
                body_.inputs.push_back({node.name, node.type, node.storage});
            } else if (is_outer && is_mark(node, kRemove)) {
                results_.push_back(&node);
                body_.outputs.push_back(node.args[0]);
            } else if (!is_outer || !is_mark(node)) {
                body_.nodes.push_back(node);
            }
        }
        auto take = [this](const std::string& name) { capture(name); };
        for (const Node& node : body_.nodes) {
            each_argument_ref(node, take);
        }
        for (const Value& one : body_.outputs) {
            each_ref(one, take);
        }
        for (const Program& one : program_.bodies) {
            bool is_called =
                std::any_of(body_.nodes.begin(), body_.nodes.end(),
                            [&one](const Node& node) { return calls_body(node, one.name); });
            if (is_called) {
                body_.bodies.push_back(one);
            }
        }
    }

    void capture(const std::string& name) {
        if (made_.count(name) == 0 && captured_.insert(name).second) {
            const ValueFacts& facts = values_.facts(name);
            body_.inputs.push_back({name, facts.type, facts.storage});
            given_.push_back(Value::ref(name));
        }
    }

    // A body cannot write to what is outside of it, and its complex numbers are no pairs.
    std::string reason_against() const {
        if (rows_.empty() || results_.empty()) {
            return "`torch.vmap` without tensors";
        }
        std::unordered_set<int64_t> outside{0};
        for (const Input& one : body_.inputs) {
            outside.insert(one.storage);
        }
        for (const Node& node : body_.nodes) {
            if (!node.writes.empty() && outside.count(node.storage) != 0) {
                return "`torch.vmap` of a function that writes to its arguments";
            }
            if (node.takes_pairs || program_.pairs.count(node.name) != 0) {
                return "`torch.vmap` of a function of complex numbers";
            }
        }
        return {};
    }

    std::vector<Value> rows(std::vector<Node>& nodes) {
        std::vector<Value> rows;
        for (const Node* one : rows_) {
            rows.push_back(one->args[1] == Value::number(0)
                               ? one->args[0]
                               : Value::ref(moved(one->name + "_rows", one->args[0], one->args[1],
                                                  Value::number(0), *one, nodes)));
        }
        return rows;
    }

    void write_results(const std::string& all, std::vector<Node>& nodes) {
        for (size_t i = 0; i < results_.size(); ++i) {
            const Node& mark = *results_[i];
            Node part = mark;
            part.target = "py::getitem";
            part.args = {Value::ref(all), Value::number(static_cast<int64_t>(i))};
            part.kwargs.clear();
            Value to = mark.args[3];
            if (to == Value::number(0)) {
                nodes.push_back(std::move(part));
                continue;
            }
            part.name = values_.fresh_name(mark.name + "_rows");
            part.type.clear();
            std::string rows = part.name;
            nodes.push_back(std::move(part));
            Node move = mark;
            move.target = "aten::movedim.int";
            move.args = {Value::ref(rows), Value::number(0), to};
            nodes.push_back(std::move(move));
        }
    }

    std::string moved(const std::string& name, Value from, Value dim, Value to, const Node& mark,
                      std::vector<Node>& nodes) {
        Node move;
        move.name = values_.fresh_name(name);
        move.target = "aten::movedim.int";
        move.args = {std::move(from), std::move(dim), std::move(to)};
        move.place = mark.place;
        std::string made = move.name;
        nodes.push_back(std::move(move));
        return made;
    }

    const std::vector<Node>& region_;
    Program& program_;
    Values& values_;
    Program body_;
    std::vector<const Node*> rows_, results_;  // the marks of the outermost level
    std::vector<Value> given_;                 // what the body takes as it is
    std::unordered_set<std::string> made_, captured_;
};

class Replacer {
  public:
    explicit Replacer(Program& program)
        : program_(program), values_(program), live_(live_names(program)) {}

    std::vector<Problem> run() {
        std::vector<Node> nodes = std::move(program_.nodes);
        auto name_now = [this](const std::string& name) {
            auto found = renames_.find(name);
            return found != renames_.end() ? found->second : name;
        };
        for (size_t i = 0; i < nodes.size(); ++i) {
            size_t end = begins(nodes[i]) ? end_of(nodes, i) : i;
            std::vector<Node> part(
                std::make_move_iterator(nodes.begin() + static_cast<std::ptrdiff_t>(i)),
                std::make_move_iterator(nodes.begin() + static_cast<std::ptrdiff_t>(end) + 1));
            for (Node& node : part) {
                rename_arguments(node, name_now);
                node.writes = name_now(node.writes);
            }
            if (begins(part.front()) && ends(part.back())) {
                region(part);
            } else if (reads_dropped(part.front())) {
                dropped_.insert(part.front().name);
            } else if (!is_mark(part.front())) {
                std::move(part.begin(), part.end(), std::back_inserter(nodes_));
            }
            i = end;
        }
        for (Value& one : program_.outputs) {
            rename(one, name_now);
        }
        program_.nodes = std::move(nodes_);
        check_names();
        return std::move(problems_);
    }

  private:
    // In a file that somebody has changed, values of a region may be read outside of it.
    void check_names() {
        std::unordered_set<std::string> known;
        for (const Input& one : program_.inputs) {
            known.insert(one.name);
        }
        for (const Weight& one : program_.weights) {
            known.insert(one.name);
        }
        for (const Node& node : program_.nodes) {
            known.insert(node.name);
        }
        std::shared_ptr<const Place> place;
        auto look = [&](const std::string& name) {
            if (known.insert(name).second && problems_.empty()) {
                problems_.push_back({place,
                                     fmt::format("`{}`, a value of a call of `torch.vmap` that is "
                                                 "read outside of it",
                                                 name),
                                     std::string(kWithoutTransformation)});
            }
        };
        for (const Node& node : program_.nodes) {
            place = node.place;
            each_argument_ref(node, look);
            if (!node.writes.empty()) {
                look(node.writes);
            }
        }
        for (const Value& one : program_.outputs) {
            each_ref(one, look);
        }
    }

    // Where the region that begins at `first` ends.
    static size_t end_of(const std::vector<Node>& nodes, size_t first) {
        int64_t depth = 0;
        for (size_t i = first; i < nodes.size(); ++i) {
            depth += begins(nodes[i]) ? 1 : 0;
            depth -= ends(nodes[i]) ? 1 : 0;
            if (depth == 0) {
                return i;
            }
        }
        return first;
    }

    // Whether nothing needs the node, and it reads what nothing needs of a region.
    bool reads_dropped(const Node& node) const {
        bool reads = false;
        each_argument_ref(
            node, [&](const std::string& name) { reads = reads || dropped_.count(name) != 0; });
        return reads && live_.count(node.name) == 0;
    }

    void region(const std::vector<Node>& part) {
        bool is_live = std::any_of(part.begin(), part.end(), [this](const Node& node) {
            return live_.count(node.name) != 0;
        });
        if (!is_live) {
            for (const Node& node : part) {
                dropped_.insert(node.name);
            }
            return;
        }
        if (!std::all_of(part.begin(), part.end(), is_whole)) {
            problems_.push_back({part.front().place, "`torch.vmap` with marks that lack arguments",
                                 std::string(kWithoutTransformation)});
            return;
        }
        if (std::optional<std::vector<Node>> found = batched(part, values_, renames_)) {
            std::move(found->begin(), found->end(), std::back_inserter(nodes_));
            return;
        }
        program_.has_vmap_loops = true;
        std::string reason = Loop(part, program_, values_).write(nodes_);
        if (!reason.empty()) {
            problems_.push_back(
                {part.front().place, std::move(reason), std::string(kWithoutTransformation)});
        }
    }

    Program& program_;
    Values values_;
    std::unordered_set<std::string> live_;
    std::unordered_set<std::string>
        dropped_;  // of regions that are not live, and of what reads them
    std::vector<Node> nodes_;
    Renames renames_;
    std::vector<Problem> problems_;
};

}  // namespace

std::string vmap_target(std::string_view name) {
    bool is_known = std::find(std::begin(kMarks), std::end(kMarks), name) != std::end(kMarks);
    return is_known ? fmt::format("vmap::{}", name) : std::string();
}

std::vector<Problem> replace_vmap(Program& program) {
    std::vector<Problem> problems;
    bool has_some = std::any_of(program.nodes.begin(), program.nodes.end(),
                                [](const Node& node) { return is_mark(node); });
    if (has_some) {
        problems = Replacer(program).run();
        std::erase_if(program.bodies, [&program](const Program& body) {  // loops have copies
            return std::none_of(program.nodes.begin(), program.nodes.end(),
                                [&body](const Node& node) { return calls_body(node, body.name); });
        });
    }
    for (Program& body : program.bodies) {  // also those that loops have got
        add_problems(problems, replace_vmap(body));
        program.has_vmap_loops = program.has_vmap_loops || body.has_vmap_loops;
    }
    return problems;
}

}  // namespace sardonyx::torch
