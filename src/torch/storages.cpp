#include "torch/storages.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "torch/shapes.h"
#include "torch/views.h"

namespace sardonyx::torch {
namespace {

// What gives a view of its first argument always.
constexpr std::string_view kViews[] = {
    "_conj",
    "adjoint",
    "alias",
    "alpha_dropout",
    "as_strided",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_in_dim",
    "broadcast_to",
    "chunk",
    "collapse_view",
    "conj",
    "detach",
    "diagonal",
    "dropout",
    "dsplit",
    "expand",
    "expand_as",
    "feature_alpha_dropout",
    "feature_dropout",
    "hsplit",
    "imag",
    "lift_fresh",
    "linalg_diagonal",
    "mH",
    "mT",
    "matrix_H",
    "moveaxis",
    "movedim",
    "narrow",
    "numpy_T",
    "permute",
    "pin_memory",
    "positive",
    "real",
    "resolve_conj",
    "resolve_neg",
    "select",
    "slice",
    "slice_in_dim",
    "split",
    "split_dim",
    "split_with_sizes",
    "squeeze",
    "swapaxes",
    "swapdims",
    "t",
    "tensor_split",
    "transpose",
    "unbind",
    "unflatten",
    "unfold",
    "unsafe_chunk",
    "unsafe_split",
    "unsqueeze",
    "view",
    "_unsafe_view",
    "view_as",
    "view_as_complex",
    "view_as_real",
    "view_of",
    "vsplit",
};
// A view where the element type and the order in memory stay.
constexpr std::string_view kAsItIs[] = {"to", "type_as", "contiguous"};
// A view where the elements lie in their order.
constexpr std::string_view kOfOrder[] = {"reshape", "flatten", "ravel", "reshape_as"};
// A view in cases that are not told apart here.
constexpr std::string_view kPerhaps[] = {"sum_to_size"};

template <size_t kCount>
bool is_one_of(const std::string_view (&names)[kCount], std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// Whether it is known that its elements lie one after the other, in their order.
bool lies_in_order(const TensorFacts* facts) {
    if (facts == nullptr) {
        return false;
    }
    Size one(1), wanted(1);
    for (size_t i = facts->sizes.size(); i-- > 0;) {
        const Size& size = facts->sizes[i];
        const Size& stride = facts->strides[i];
        if (!size.is_exact() || !stride.is_exact() || (size != one && stride != wanted)) {
            return false;
        }
        wanted = wanted * size;
    }
    return true;
}

class Storages {
  public:
    explicit Storages(const FactsOf& facts_of) : facts_of_(facts_of) {}

    std::vector<Problem> number(Program& program,
                                const std::map<std::string, std::string, std::less<>>& groups) {
        for (Input& one : program.inputs) {
            one.storage = numbers_[one.name] = ++count_;
        }
        std::map<std::string, int64_t> shared;
        for (Weight& one : program.weights) {
            auto group = groups.find(one.name);
            int64_t& of_group = shared[group != groups.end() ? group->second : one.name];
            of_group = of_group == 0 ? ++count_ : of_group;
            numbers_[one.name] = one.storage = of_group;
        }
        kept_ = count_;
        std::unordered_map<std::string, size_t> last_reads = last_reads_of(program);
        std::vector<Problem> problems;
        for (size_t at = 0; at < program.nodes.size(); ++at) {
            Node& node = program.nodes[at];
            // What is made later has the new elements, whether it shares them or not.
            if (!node.writes.empty() && !changes_shape(node.target) &&
                is_doubtful(node.writes, at, last_reads)) {
                problems.push_back(
                    {node.place,
                     "it writes into a tensor of which it is not known whether another one shares "
                     "it",
                     "convert what torch.export gives, without a file, or write it without `_`"});
            }
            node.storage = numbers_[node.name] = of(node);
        }
        return problems;
    }

  private:
    // The last node that reads each value; results of the program are read by one behind all.
    static std::unordered_map<std::string, size_t> last_reads_of(const Program& program) {
        std::unordered_map<std::string, size_t> last;
        for (size_t at = 0; at < program.nodes.size(); ++at) {
            each_argument_ref(program.nodes[at], [&](const std::string& name) { last[name] = at; });
        }
        for (const Value& one : program.outputs) {
            each_ref(one, [&](const std::string& name) { last[name] = program.nodes.size(); });
        }
        return last;
    }

    // Whether a write by this node may change what is read after it, or what the caller has.
    bool is_doubtful(const std::string& name, size_t at,
                     const std::unordered_map<std::string, size_t>& last_reads) const {
        auto written = numbers_.find(name);
        if (written == numbers_.end()) {
            return false;
        }
        std::set<int64_t> others = perhaps_shared_with(written->second);
        if (!others.empty() && *others.begin() <= kept_) {
            return true;
        }
        return std::any_of(numbers_.begin(), numbers_.end(), [&](const auto& one) {
            auto read = last_reads.find(one.first);
            return others.count(one.second) != 0 && read != last_reads.end() && read->second > at;
        });
    }
    std::set<int64_t> perhaps_shared_with(int64_t storage) const {
        std::set<int64_t> found = {storage};
        std::vector<int64_t> open = {storage};
        while (!open.empty()) {
            auto neighbours = perhaps_shared_.find(open.back());
            open.pop_back();
            if (neighbours != perhaps_shared_.end()) {
                for (int64_t one : neighbours->second) {
                    if (found.insert(one).second) {
                        open.push_back(one);
                    }
                }
            }
        }
        found.erase(storage);
        return found;
    }

    // Of what a node gives.
    int64_t of(const Node& node) {
        int64_t fresh = ++count_;
        std::string base = node.writes.empty() ? first_ref(node) : node.writes;
        auto found = numbers_.find(base);
        if (found == numbers_.end()) {
            return fresh;
        }
        std::string_view packet = packet_of(node.target);
        if (views_each(node)) {
            of_lists_[node.name] = &node;
            return fresh;
        }
        bool is_item = node.target == "py::getitem" && node.args.size() > 1;
        if (auto list = of_lists_.find(base); is_item && list != of_lists_.end()) {
            found = numbers_.find(viewed_argument(*list->second, node.args[1].integer).text);
            return found != numbers_.end() ? found->second : fresh;
        }
        if (std::optional<bool> is_shared = shares_listed(node)) {
            return *is_shared ? found->second : fresh;
        }
        if (node.target == "py::getitem" || !node.writes.empty() || is_one_of(kViews, packet)) {
            return found->second;
        }
        if (is_one_of(kAsItIs, packet)) {
            return is_same(node, base) ? found->second : fresh;
        }
        bool is_of_order = is_one_of(kOfOrder, packet);
        if (is_of_order && lies_in_order(facts_of_(base))) {
            return found->second;
        }
        if (is_of_order || is_one_of(kPerhaps, packet)) {
            bool is_of_first = node.args[0].is_ref();  // others are its sizes
            for (const Value& one : node.args) {
                each_ref(one, [&](const std::string& name) {
                    auto number = numbers_.find(name);
                    if (number != numbers_.end() && (!is_of_first || name == base)) {
                        perhaps_shared_[fresh].insert(number->second);
                        perhaps_shared_[number->second].insert(fresh);
                    }
                });
            }
        }
        return fresh;
    }

    static std::string first_ref(const Node& node) {
        std::string first;
        for (const Value& one : node.args) {
            each_ref(one,
                     [&first](const std::string& name) { first = first.empty() ? name : first; });
        }
        return first;
    }

    bool is_same(const Node& node, const std::string& base) const {
        Value yes = Value::boolean(true);
        bool is_copy = std::find(node.args.begin() + 1, node.args.end(), yes) != node.args.end();
        for (const auto& [name, value] : node.kwargs) {
            is_copy = is_copy || (name == "copy" && value == yes);
        }
        const TensorFacts* before = facts_of_(base);
        const TensorFacts* after = facts_of_(node.name);
        return !is_copy && before != nullptr && after != nullptr &&
               before->element_type == after->element_type && before->strides == after->strides;
    }

    const FactsOf& facts_of_;
    std::unordered_map<std::string, int64_t> numbers_;
    // What gives a list of views, each of a tensor in the list that it takes.
    std::unordered_map<std::string, const Node*> of_lists_;
    // The storages that may be the same as one, directly.
    std::unordered_map<int64_t, std::set<int64_t>> perhaps_shared_;
    int64_t count_ = 0;
    int64_t kept_ = 0;  // the last storage of an input or a weight
};

// The first value of each storage, which the others are views of.
std::unordered_map<int64_t, std::string> first_values(const Program& program) {
    std::unordered_map<int64_t, std::string> first;
    auto see = [&first](const auto& one) {
        if (one.storage != 0) {
            first.try_emplace(one.storage, one.name);
        }
    };
    std::for_each(program.inputs.begin(), program.inputs.end(), see);
    std::for_each(program.weights.begin(), program.weights.end(), see);
    std::for_each(program.nodes.begin(), program.nodes.end(), see);
    return first;
}

int64_t storage_of(const Program& program, std::string_view name) {
    auto in = [name](const auto& all) -> int64_t {
        auto found = std::find_if(all.begin(), all.end(),
                                  [name](const auto& one) { return one.name == name; });
        return found != all.end() ? found->storage : 0;
    };
    int64_t of_input = std::max(in(program.inputs), in(program.weights));
    return of_input != 0 ? of_input : in(program.nodes);
}

// Sets the tensor that `as_strided` reads, whose memory begins with it. False: there is none.
bool set_memory(Node& node, const std::string& whole, const FactsOf& facts_of, bool has_offsets) {
    const TensorFacts* before = facts_of(node.args[0].text);
    const TensorFacts* facts = facts_of(whole);
    bool is_right = before != nullptr && lies_in_order(facts) && facts->offset == Size(0) &&
                    facts->element_type == before->element_type;
    if (!is_right || whole == node.args[0].text) {
        return is_right;
    }
    constexpr size_t kOffset = 3;  // the place of the argument
    auto given = std::find_if(node.kwargs.begin(), node.kwargs.end(),
                              [](const auto& one) { return one.first == "storage_offset"; });
    bool has_offset = given != node.kwargs.end()
                          ? given->second != Value::none()
                          : node.args.size() > kOffset && node.args[kOffset] != Value::none();
    if (!has_offset) {
        std::optional<int64_t> offset = before->offset.number();
        if (!offset || !has_offsets) {
            return false;
        }
        if (given != node.kwargs.end()) {
            node.kwargs.erase(given);
        }
        node.args.resize(kOffset, Value::none());
        node.args.push_back(Value::number(*offset));
    }
    node.args[0] = Value::ref(whole);
    return true;
}

// Whether views have the storages of their bases.
bool tells_views(const Program& program) {
    return std::all_of(program.nodes.begin(), program.nodes.end(), [&](const Node& node) {
        bool is_view = is_one_of(kViews, packet_of(node.target)) && node.storage != 0 &&
                       !node.args.empty() && node.args[0].is_ref();
        return !is_view || storage_of(program, node.args[0].text) == node.storage;
    });
}

std::vector<Problem> resolve_strided(Program& program, const FactsOf& facts_of, bool has_offsets) {
    std::vector<Problem> problems;
    std::unordered_map<int64_t, std::string> first;
    for (Node& node : program.nodes) {
        std::string_view packet = packet_of(node.target);
        bool is_read = packet == "as_strided" || packet == "as_strided_copy";
        if ((!is_read && packet != "as_strided_scatter") || node.args.size() < 2 ||
            !node.args[0].is_ref()) {
            continue;
        }
        if (first.empty()) {
            first = first_values(program);
        }
        int64_t storage = storage_of(program, node.args[0].text);
        auto found = first.find(storage);
        bool is_view = is_read && found != first.end();
        if (!set_memory(node, is_view ? found->second : node.args[0].text, facts_of, has_offsets)) {
            problems.push_back(
                {node.place,
                 "`as_strided` of a tensor whose elements lie in another order in its memory, or "
                 "begin at a place there that depends on sizes",
                 "write it with slices and transposes"});
        }
    }
    return problems;
}

}  // namespace

std::vector<Problem> settle_storages(Program& program,
                                     const std::map<std::string, std::string, std::less<>>& groups,
                                     const FactsOf& facts_of, MemoryTold told) {
    for (Node& node : program.nodes) {
        if (packet_of(node.target) == "_reshape_alias") {
            node.target = "aten::as_strided.default";
        }
    }
    bool is_told = told == MemoryTold::kStorages && tells_views(program);
    std::vector<Problem> problems;
    if (!is_told) {
        problems = Storages(facts_of).number(program, groups);
    }
    add_problems(problems,
                 resolve_strided(program, facts_of, is_told || told == MemoryTold::kOffsets));
    return problems;
}

}  // namespace sardonyx::torch
