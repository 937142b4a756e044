#include "models/matching.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/stop.h"
#include "ir/attribute_text.h"
#include "ir/walk.h"
#include "models/values.h"

namespace sardonyx::models {
namespace {

uint64_t mix(uint64_t hash, uint64_t word) {
    constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
    hash = (hash ^ word) * kFactor;
    return hash ^ (hash >> 29U);
}

uint64_t mix(uint64_t hash, std::string_view bytes) {
    for (size_t i = 0; i < bytes.size(); i += sizeof(uint64_t)) {
        uint64_t word = 0;
        std::memcpy(&word, bytes.data() + i, std::min(sizeof word, bytes.size() - i));
        hash = mix(hash, word);
    }
    return mix(hash, bytes.size());
}

// What tells nodes apart: all that they say, or all but their attributes and the numbers of
// weights.
enum class Compared : uint8_t { kAll, kStructure };
enum class PairSide : uint8_t { kFirst, kSecond };

uint64_t hash_of(const Tensor& tensor, Compared compared) {
    uint64_t hash = static_cast<uint64_t>(tensor.element_type());
    for (int64_t dim : tensor.dims()) {
        hash = mix(hash, static_cast<uint64_t>(dim));
    }
    bool with_bytes = compared == Compared::kAll;
    if (with_bytes && tensor.element_type() == ElementType::kString) {
        for (const std::string& text : tensor.elements<std::string>()) {
            hash = mix(hash, text);
        }
    } else if (with_bytes) {
        hash =
            mix(hash, std::string_view(reinterpret_cast<const char*>(tensor.stored_bytes().data()),
                                       tensor.stored_bytes().size()));
    }
    return hash;
}

// What nodes compute, as numbers that are equal where it is; by chance they are so once in 2^64.
class Signatures {
  public:
    Signatures(const Matching& matching, PairSide side, Compared compared)
        : matching_(matching), side_(side), compared_(compared) {}

    uint64_t of(const ir::Node& node) {
        uint64_t hash = mix(mix(mix(1, node.domain), node.op_type), node.overload);
        hash = mix(hash, node.output_count());
        for (const ir::Use& use : node.inputs()) {
            hash = mix(hash, of(use.value));
        }
        uint64_t attributes = 0;  // in any order
        for (const ir::Attribute& attribute : node.attributes) {
            attributes += of(attribute);
        }
        hash = compared_ == Compared::kAll ? mix(hash, attributes) : hash;
        for (const ir::Value* output : node.outputs()) {
            values_[output] = mix(hash, output->output_index());
        }
        return hash;
    }

  private:
    uint64_t of(const ir::Value* value) {
        if (value == nullptr) {
            return 2;
        }
        auto known = values_.find(value);
        if (known != values_.end()) {
            return known->second;
        }
        if (is_stored(*value) && value->constant) {
            return values_[value] = hash_of(*value->constant, compared_);
        }
        if (value->sparse != nullptr) {
            uint64_t values = hash_of(value->sparse->values, compared_);
            return values_[value] = mix(values, hash_of(value->sparse->indices, compared_));
        }
        // The second graph's value of a pair goes by the first one's address.
        const ir::Value* pair = value;
        if (side_ == PairSide::kSecond) {
            auto found = matching_.values_back.find(value);
            pair = found != matching_.values_back.end() ? found->second : value;
        }
        return mix(3, reinterpret_cast<uintptr_t>(pair));
    }

    uint64_t of(const ir::Attribute& attribute) {
        uint64_t hash = mix(mix(4, attribute.name), attribute.reference);
        if (const auto* tensor = attribute.get<Tensor>()) {
            return mix(hash, hash_of(*tensor, compared_));
        }
        bool has_graph = false;
        ir::for_each_subgraph(attribute, [&](const ir::Graph& graph) {
            has_graph = true;
            hash = mix(hash, of(graph));
        });
        return has_graph ? hash : mix(hash, ir::text_of(attribute));
    }

    uint64_t of(const ir::Graph& graph) {
        uint64_t hash = mix(5, graph.inputs.size());
        for (size_t i = 0; i < graph.inputs.size(); ++i) {
            values_[graph.inputs[i]] = mix(6, i);
        }
        for (const ir::Node& node : graph) {
            stop_point();
            hash = mix(hash, of(node));
        }
        for (const ir::Value* output : graph.outputs) {
            hash = mix(hash, of(output));
        }
        return hash;
    }

    const Matching& matching_;
    PairSide side_;
    Compared compared_;
    std::unordered_map<const ir::Value*, uint64_t> values_;
};

bool same_operator(const ir::Node& a, const ir::Node& b) {
    return a.domain == b.domain && a.op_type == b.op_type && a.overload == b.overload;
}

class GraphMatcher {
  public:
    GraphMatcher(const ir::Graph& a, const ir::Graph& b, Matching& matching)
        : a_(a), b_(b), matching_(matching) {}

    void run() {
        match_inputs();
        match_by_signature(Compared::kAll);
        match_by_signature(Compared::kStructure);
        matching_outputs_ = paired(a_.outputs, b_.outputs);
        for (bool needs_operator : {true, false}) {
            seed();
            spread(needs_operator);
            match_by_name(needs_operator);
            spread(needs_operator);
        }
    }

  private:
    using Pairs = std::vector<std::pair<const ir::Value*, const ir::Value*>>;

    // By the first place of equal names, then by their places.
    static Pairs paired(const std::vector<ir::Value*>& first,
                        const std::vector<ir::Value*>& second) {
        std::map<std::string_view, const ir::Value*> named;
        for (const ir::Value* value : second) {
            named.emplace(value->name, value);
        }
        Pairs pairs;
        for (const ir::Value* value : first) {
            auto found = named.find(value->name);
            if (found != named.end()) {
                pairs.emplace_back(value, found->second);
            }
        }
        for (size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
            pairs.emplace_back(first[i], second[i]);
        }
        return pairs;
    }

    void match_inputs() {
        for (auto [x, y] : paired(a_.inputs, b_.inputs)) {
            matching_.bind(*x, *y);
        }
    }

    bool is_free(const ir::Node* a, const ir::Node* b) const {
        return a != nullptr && b != nullptr && a->graph() == &a_ && b->graph() == &b_ &&
               !matching_.nodes.contains(a) && !matching_.nodes_back.contains(b);
    }

    void match(const ir::Node& a, const ir::Node& b) {
        matching_.nodes.emplace(&a, &b);
        matching_.nodes_back.emplace(&b, &a);
        for (size_t i = 0; i < std::min(a.output_count(), b.output_count()); ++i) {
            matching_.bind(*a.output(i), *b.output(i));
        }
        waiting_.emplace_back(&a, &b);
    }

    void match_by_signature(Compared compared) {
        std::vector<Signed> first = unmatched(a_, PairSide::kFirst, compared);
        std::vector<Signed> second = unmatched(b_, PairSide::kSecond, compared);
        // Of those with one signature, the first with the first, in the order of the graphs.
        std::vector<std::pair<Signed, const ir::Node*>> found;
        for (size_t i = 0, k = 0; i < first.size() && k < second.size();) {
            stop_point();
            if (first[i].signature == second[k].signature) {
                found.emplace_back(first[i++], second[k++].node);
            } else {
                first[i].signature < second[k].signature ? ++i : ++k;
            }
        }
        std::sort(found.begin(), found.end(),
                  [](const auto& p, const auto& q) { return p.first.place < q.first.place; });
        for (const auto& [x, y] : found) {
            stop_point();
            match(*x.node, *y);
        }
    }

    struct Signed {
        uint64_t signature;
        size_t place;  // in its graph
        const ir::Node* node;
    };

    // By their signatures, and those that have the same by their places.
    std::vector<Signed> unmatched(const ir::Graph& graph, PairSide side, Compared compared) const {
        Signatures signatures(matching_, side, compared);
        const auto& matched = side == PairSide::kFirst ? matching_.nodes : matching_.nodes_back;
        std::vector<Signed> nodes;
        size_t place = 0;
        for (const ir::Node& node : graph) {
            stop_point();
            uint64_t signature = signatures.of(node);
            if (!matched.contains(&node)) {
                nodes.push_back({signature, place, &node});
            }
            ++place;
        }
        std::sort(nodes.begin(), nodes.end(), [](const Signed& p, const Signed& q) {
            return std::pair(p.signature, p.place) < std::pair(q.signature, q.place);
        });
        return nodes;
    }

    // In the order of the graph. Its own nodes only: `matching_` is of all graphs of the models.
    void seed() {
        waiting_.clear();
        for (const ir::Node& node : a_) {
            stop_point();
            if (const ir::Node* pair = matching_.of(node)) {
                waiting_.emplace_back(&node, pair);
            }
        }
    }

    bool fits(const ir::Node* x, const ir::Node* y, bool needs_operator) const {
        return is_free(x, y) && (!needs_operator || same_operator(*x, *y));
    }

    void match_producers(const ir::Value* x, const ir::Value* y, bool needs_operator) {
        if (x == nullptr || y == nullptr || x->output_index() != y->output_index()) {
            return;
        }
        if (fits(x->producer(), y->producer(), needs_operator)) {
            match(*x->producer(), *y->producer());
        }
    }

    void match_readers(const ir::Value& x, bool needs_operator) {
        const ir::Value* y = matching_.of(&x);
        if (y == nullptr) {
            return;
        }
        constexpr int kMostReaders = 1000;  // each of many beside each of many takes too long
        int count = 0;
        for (const ir::Use* use = x.first_use(); use != nullptr; use = use->next) {
            ++count;
        }
        for (const ir::Use* use = y->first_use(); use != nullptr; use = use->next) {
            ++count;
        }
        if (count > kMostReaders) {
            return;
        }
        // Uses stand in the order in which they were made, the last first.
        for (const ir::Use* use = x.first_use(); use != nullptr; use = use->next) {
            const ir::Node* best = nullptr;
            for (const ir::Use* other = y->first_use(); other != nullptr; other = other->next) {
                bool is_better = best == nullptr || other->user->is_before(*best);
                if (other->index == use->index && fits(use->user, other->user, needs_operator) &&
                    is_better) {
                    best = other->user;
                }
            }
            if (best != nullptr) {
                match(*use->user, *best);
            }
        }
    }

    // From the nodes that wait, to those that they read and that read them.
    void spread(bool needs_operator) {
        for (auto [x, y] : matching_outputs_) {
            match_producers(x, y, needs_operator);
        }
        for (const ir::Value* input : a_.inputs) {
            match_readers(*input, needs_operator);
        }
        while (!waiting_.empty()) {
            stop_point();
            auto [x, y] = waiting_.front();
            waiting_.pop_front();
            for (size_t i = 0; i < std::min(x->input_count(), y->input_count()); ++i) {
                match_producers(x->input(i), y->input(i), needs_operator);
            }
            for (const ir::Value* output : x->outputs()) {
                match_readers(*output, needs_operator);
            }
        }
    }

    void match_by_name(bool needs_operator) {
        std::map<std::string_view, const ir::Node*> by_output;
        for (const ir::Node& node : b_) {
            stop_point();
            if (node.output(0) != nullptr && !node.output(0)->name.empty()) {
                by_output.emplace(node.output(0)->name, &node);
            }
        }
        for (const ir::Node& node : a_) {
            stop_point();
            auto found =
                node.output(0) != nullptr ? by_output.find(node.output(0)->name) : by_output.end();
            if (found != by_output.end() && fits(&node, found->second, needs_operator)) {
                match(node, *found->second);
            }
        }
    }

    const ir::Graph& a_;
    const ir::Graph& b_;
    Matching& matching_;
    Pairs matching_outputs_;
    std::deque<std::pair<const ir::Node*, const ir::Node*>> waiting_;
};

}  // namespace

void Matching::bind(const ir::Value& a, const ir::Value& b) {
    if (!values.contains(&a) && !values_back.contains(&b)) {
        values.emplace(&a, &b);
        values_back.emplace(&b, &a);
    }
}

const ir::Value* Matching::of(const ir::Value* a) const {
    auto found = values.find(a);
    return found != values.end() ? found->second : nullptr;
}

const ir::Node* Matching::of(const ir::Node& a) const {
    auto found = nodes.find(&a);
    return found != nodes.end() ? found->second : nullptr;
}

const ir::Node* Matching::back_of(const ir::Node& b) const {
    auto found = nodes_back.find(&b);
    return found != nodes_back.end() ? found->second : nullptr;
}

void match_graphs(const ir::Graph& a, const ir::Graph& b, Matching& matching) {
    GraphMatcher(a, b, matching).run();
}

}  // namespace sardonyx::models
