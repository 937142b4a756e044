// If and Loop as statements of Python. The compiler makes an output of a name for each name that a
// branch or body binds, in the order of the first bindings: one assignment at the end gives them
// all.
#include <fmt/format.h>

#include <algorithm>

#include "decompile/unit.h"
#include "ir/standard.h"

namespace sardonyx::decompile {
namespace {

// Whether a value is the result of a node of this graph, so that the node's statement may bind the
// name that the graph's result has outside.
bool is_made_in(const ir::Graph& graph, const ir::Value& value) {
    return value.producer() != nullptr && value.producer()->graph() == &graph;
}

}  // namespace

// Whether the compiler makes an output of each name: it leaves out those of branches that nobody
// reads, and those of loops that the body does not read either.
bool Unit::are_all_read(const ir::Node& node) const {
    std::vector<const ir::Graph*> graphs = subgraphs(node);
    bool is_loop = ir::is_standard(node, "Loop") && graphs.size() == 1 &&
                   graphs[0]->inputs.size() == node.output_count() + 2;
    for (const ir::Value* output : node.outputs()) {
        const ir::Value* inner = is_loop ? graphs[0]->inputs[output->output_index() + 2] : nullptr;
        bool is_read = facts_.is_read(*output) || (inner != nullptr && facts_.is_read(*inner));
        if (output->name.empty() || !is_read) {
            return false;
        }
    }
    return node.output_count() > 0;
}

bool Unit::write_statement(const ir::Node& node, size_t indent) {
    bool is_known = version_of("") > 0 && callee_of(node) == nullptr && are_all_read(node);
    return is_known && (ir::is_standard(node, "If")     ? write_if(node, indent)
                        : ir::is_standard(node, "Loop") ? write_loop(node, indent)
                                                        : false);
}

// `a, b = x, y`; nothing for a name that is bound already.
void Unit::write_assignment(const Targets& targets, std::span<ir::Value* const> values,
                            size_t indent) {
    std::vector<Expression> names;
    for (const ir::Value* value : values) {
        names.push_back(operand(*value));
    }
    if (targets.size() == 1 && names[0].head == targets[0]) {
        return;
    }
    begin_statement();
    Expression right = targets.size() == 1 ? names[0] : Expression::call("", std::move(names));
    std::string words = flat(right);
    if (right.open != 0) {
        words = words.substr(1, words.size() - 2);
    }
    std::string left;
    for (const std::string& target : targets) {
        left += (left.empty() ? "" : ", ") + target;
    }
    if (right.open == 0 || indent + left.size() + 3 + words.size() <= kLineLength) {
        right = Expression::atom(std::move(words));
    }
    append_statement(text_, indent, targets, right);
}

void Unit::write_branch(const ir::Graph& graph, const Targets& targets, size_t indent) {
    if (targets.size() == 1 && is_made_in(graph, *graph.outputs[0])) {
        values_.emplace(graph.outputs[0], targets[0]);
    }
    write_block(graph, indent);
    if (!error_) {
        write_assignment(targets, graph.outputs, indent);
    }
}

bool Unit::write_if(const ir::Node& node, size_t indent) {
    const ir::Attribute* yes = node.find_attribute("then_branch");
    const ir::Attribute* no = node.find_attribute("else_branch");
    const ir::Value* condition = node.input(0);
    if (condition == nullptr || facts_.constant_of(*condition) != nullptr || yes == nullptr ||
        no == nullptr || yes->get<ir::Graph*>() == nullptr || no->get<ir::Graph*>() == nullptr) {
        return false;
    }
    for (const ir::Graph* graph : subgraphs(node)) {
        if (!graph->inputs.empty() || graph->outputs.size() != node.output_count()) {
            return false;
        }
    }
    Targets targets = targets_of(node);
    begin_statement();
    text_.append(indent, ' ');
    text_ += fmt::format("if {}:\n", name_of(*condition, "condition"));
    write_branch(**yes->get<ir::Graph*>(), targets, indent + kIndent);
    text_.append(indent, ' ');
    text_ += "else:\n";
    write_branch(**no->get<ir::Graph*>(), targets, indent + kIndent);
    return true;
}

// The condition that goes on, of the body of a `for`: a constant or what it was. False: the body
// looks at it besides.
bool Unit::leave_out_condition(const ir::Graph& body) {
    const ir::Value* next = body.outputs[0];
    if (next == body.inputs[1]) {
        return body.inputs[1]->first_use() == nullptr;
    }
    bool is_result = std::count(body.outputs.begin(), body.outputs.end(), next) > 1;
    if (facts_.constant_of(*next) != nullptr) {
        if (facts_.use_of(*next).count == 1 && is_made_in(body, *next)) {
            left_out_.insert(next);
        }
        return !facts_.is_read(*body.inputs[1]);
    }
    const ir::Use* use = body.inputs[1]->first_use();
    bool is_alone = use != nullptr && use->next == nullptr && use->user == next->producer() &&
                    next->first_use() == nullptr && !is_result &&
                    std::count(body.outputs.begin(), body.outputs.end(), body.inputs[1]) == 0;
    if (is_alone) {
        left_out_.insert(next);
    }
    return is_alone;
}

// `for` counts and always goes on; `while` asks and does not count. A Loop that does both, or
// stacks results, stays an operator.
bool Unit::write_loop(const ir::Node& node, size_t indent) {
    const ir::Attribute* attribute = node.find_attribute("body");
    if (attribute == nullptr || attribute->get<ir::Graph*>() == nullptr) {
        return false;
    }
    const ir::Graph& body = **attribute->get<ir::Graph*>();
    const ir::Value* count = node.input(0);
    const ir::Value* first = node.input(1);
    size_t carried = node.output_count();
    bool fits = body.inputs.size() == carried + 2 && body.outputs.size() == carried + 1 &&
                node.input_count() == carried + 2 &&
                std::none_of(body.inputs.begin(), body.inputs.end(),
                             [](const ir::Value* input) { return input->is_initializer(); });
    for (size_t i = 0; fits && i < carried; ++i) {
        fits = node.input(i + 2) != nullptr;
    }
    bool is_for = fits && count != nullptr && facts_.is_endless(node) &&
                  facts_.constant_of(*count) == nullptr && leave_out_condition(body);
    bool is_while = fits && count == nullptr && first != nullptr &&
                    facts_.constant_of(*first) == nullptr &&
                    facts_.constant_of(*body.outputs[0]) == nullptr &&
                    !facts_.is_read(*body.inputs[0]) && !facts_.is_read(*body.inputs[1]);
    if (!is_for && !is_while) {
        return false;
    }
    Targets targets = targets_of(node);
    std::vector<ir::Value*> before, after;
    for (size_t i = 0; i < carried; ++i) {
        before.push_back(node.input(i + 2));
        after.push_back(body.outputs[i + 1]);
        values_.emplace(body.inputs[i + 2], targets[i]);
    }
    std::string head;
    if (is_for) {
        head = fmt::format("for {} in range({}):\n", name_of(*body.inputs[0], "i"),
                           name_of(*count, "count"));
    } else {
        targets.push_back(names_.fresh(body.outputs[0]->name, "go_on"));
        before.push_back(node.input(1));
        after.push_back(body.outputs[0]);
        head = fmt::format("while {}:\n", targets.back());
    }
    write_assignment(targets, before, indent);
    begin_statement();
    text_.append(indent, ' ');
    text_ += head;
    write_block(body, indent + kIndent);
    if (!error_) {
        write_assignment(targets, after, indent + kIndent);
    }
    return true;
}

}  // namespace sardonyx::decompile
