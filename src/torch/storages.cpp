#include "torch/storages.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "torch/shapes.h"

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
constexpr std::string_view kOfOrder[] = {"reshape", "flatten", "ravel", "reshape_as",
                                         "_reshape_alias"};
// A view in cases that are not told apart here.
constexpr std::string_view kPerhaps[] = {"einsum", "broadcast_tensors", "meshgrid", "sum_to_size",
                                         "cartesian_prod"};

template <size_t kCount>
bool is_one_of(const std::string_view (&names)[kCount], std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
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
        std::vector<Problem> problems;
        for (Node& node : program.nodes) {
            // What is made later has the new elements, whether it shares them or not.
            if (!node.writes.empty() && !changes_shape(node.target) && is_doubtful(node.writes)) {
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
    bool is_doubtful(const std::string& name) const {
        auto found = numbers_.find(name);
        return found != numbers_.end() && doubtful_.count(found->second) != 0;
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
        if (node.target == "py::getitem" || !node.writes.empty() || is_one_of(kViews, packet)) {
            return found->second;
        }
        if (is_one_of(kAsItIs, packet)) {
            return is_same(node, base) ? found->second : fresh;
        }
        bool is_of_order = is_one_of(kOfOrder, packet);
        if (is_of_order && is_contiguous(base)) {
            return found->second;
        }
        if (is_of_order || is_one_of(kPerhaps, packet)) {
            doubtful_.insert(fresh);
            for (const Value& one : node.args) {
                each_ref(one, [this](const std::string& name) {
                    auto number = numbers_.find(name);
                    doubtful_.insert(number != numbers_.end() ? number->second : 0);
                });
            }
        }
        return fresh;
    }

    static std::string first_ref(const Node& node) {
        std::string first;
        if (!node.args.empty()) {
            each_ref(node.args[0],
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

    // Whether it is known to be.
    bool is_contiguous(const std::string& name) const {
        const TensorFacts* facts = facts_of_(name);
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

    const FactsOf& facts_of_;
    std::unordered_map<std::string, int64_t> numbers_;
    std::set<int64_t> doubtful_;
    int64_t count_ = 0;
};

}  // namespace

std::vector<Problem> number_storages(Program& program,
                                     const std::map<std::string, std::string, std::less<>>& groups,
                                     const FactsOf& facts_of) {
    return Storages(facts_of).number(program, groups);
}

}  // namespace sardonyx::torch
