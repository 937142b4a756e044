#include "infer/filled_sequences.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "infer/subgraph.h"
#include "ir/standard.h"

namespace sardonyx::infer {

namespace {

constexpr int kMostVisits = 1000;  // of values, however they are reached

// Follows a sequence back to values that are empty, and joins the types of what was put into it.
class Filler {
  public:
    explicit Filler(const ir::Value& before) : empty_{&before} {}

    void follow(const ir::Value* value) {
        while (value != nullptr && ++visits_ < kMostVisits && !is_empty(value)) {
            const ir::Node* node = value->producer();
            if (ir::is_standard(node, "SequenceInsert") && node->input(1) != nullptr) {
                add(node->input(1)->type);
                value = node->input(0);
            } else if (ir::is_standard(node, "Identity")) {
                value = node->input(0);
            } else if (ir::is_standard(node, "If")) {
                follow_branches(*node, *value);
                return;
            } else if (ir::is_standard(node, "Loop") && follow_loop(*node, *value)) {
                return;
            } else {
                add(value->type.element());
                return;
            }
        }
        is_cut_ |= visits_ >= kMostVisits;
    }

    Type result() const { return is_cut_ || !has_element_ ? Type() : Type::sequence(element_); }

  private:
    bool is_empty(const ir::Value* value) const {
        return is_empty_sequence(value) ||
               std::find(empty_.begin(), empty_.end(), value) != empty_.end();
    }

    // A size that was found out in the body may be another one in the next iteration.
    void add(const Type& type) {
        Type kept = drop_symbols(
            type, [](std::string_view name) { return fresh_number(name).has_value(); });
        element_ = has_element_ ? join(element_, kept) : std::move(kept);
        has_element_ = true;
    }

    static const ir::Graph* graph_of(const ir::Node& node, std::string_view attribute) {
        const ir::Attribute* found = node.find_attribute(attribute);
        ir::Graph* const* graph = found != nullptr ? found->get<ir::Graph*>() : nullptr;
        return graph != nullptr ? *graph : nullptr;
    }

    void follow_branches(const ir::Node& node, const ir::Value& output) {
        for (std::string_view branch : {"then_branch", "else_branch"}) {
            const ir::Graph* graph = graph_of(node, branch);
            size_t i = output.output_index();
            follow(graph != nullptr && i < graph->outputs.size() ? graph->outputs[i] : nullptr);
        }
    }

    // False: not a value that the inner loop carries.
    bool follow_loop(const ir::Node& node, const ir::Value& output) {
        const ir::Graph* body = graph_of(node, "body");
        size_t i = output.output_index();
        if (body == nullptr || i + 2 >= node.input_count() || i + 2 >= body->inputs.size() ||
            i + 1 >= body->outputs.size()) {
            return false;
        }
        empty_.push_back(body->inputs[i + 2]);
        follow(node.input(i + 2));
        follow(body->outputs[i + 1]);
        return true;
    }

    std::vector<const ir::Value*> empty_;
    Type element_;
    bool has_element_ = false, is_cut_ = false;
    int visits_ = 0;
};

}  // namespace

Type filled_sequence(const ir::Value& after, const ir::Value& before) {
    Filler filler(before);
    filler.follow(&after);
    return filler.result();
}

bool is_empty_sequence(const ir::Value* value) {
    return value != nullptr && ir::is_standard(value->producer(), "SequenceEmpty");
}

}  // namespace sardonyx::infer
