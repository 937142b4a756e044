#include "elaborate/emit/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/stop.h"
#include "elaborate/emit/repairs.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/type_text.h"
#include "infer/diagnostics.h"
#include "infer/infer.h"
#include "ops/ops.h"

namespace sardonyx::elaborate {

namespace {

syntax::Range finding_range(const NodeRequest& request, int input, std::string_view attribute) {
    for (const auto& [name, range] : request.attribute_ranges) {
        if (!attribute.empty() && name == attribute) {
            return range;
        }
    }
    if (input >= 0 && static_cast<size_t>(input) < request.input_ranges.size()) {
        return request.input_ranges[static_cast<size_t>(input)];
    }
    return request.range;
}

// Two arguments that must be of one element type, and are not.
void mend_types(Context& c, const NodeRequest& request, const ir::Node& node,
                const infer::Finding& finding, diagnostics::Diagnostic& reported) {
    int last = std::max(finding.input, finding.other_input);
    if (finding.kind->code != infer::kTypeMismatch.code || finding.input < 0 ||
        finding.other_input < 0 || static_cast<size_t>(last) >= request.input_ranges.size()) {
        return;
    }
    size_t a = static_cast<size_t>(finding.input), b = static_cast<size_t>(finding.other_input);
    offer_cast(c, reported, request.input_ranges[a], node.input(a)->type.element_type(),
               request.input_ranges[b], node.input(b)->type.element_type());
}

void report_findings(Context& c, const NodeRequest& request, const ir::Node& node,
                     const std::vector<infer::Finding>& findings) {
    for (const infer::Finding& finding : findings) {
        bool elsewhere = finding.span.valid() && !(finding.span == node.span);
        diagnostics::Diagnostic& reported =
            c.report(*finding.kind, finding_range(request, finding.input, finding.attribute),
                     finding.message);
        reported.help = finding.help;
        auto label = [&](int input) {
            if (input < 0) {
                return;
            }
            ir::Value* value = node.input(static_cast<size_t>(input));
            if (value == nullptr) {
                return;
            }
            std::string words = fmt::format("this is `{}`", type_text(value->type));
            size_t index = static_cast<size_t>(input);
            if (index < request.input_ranges.size()) {
                syntax::Range range = request.input_ranges[index];
                if (reported.labels[0].span == c.span(range)) {
                    reported.labels[0].message = words;
                } else {
                    reported.label(c.span(range), words);
                }
            }
        };
        label(finding.input);
        label(finding.other_input);
        mend_types(c, request, node, finding, reported);
        if (elsewhere) {
            reported.label(finding.span, "in the function called here");
        }
    }
}

}  // namespace

ir::Node* emit_node(Context& c, NodeRequest request) {
    if (c.gave_up) {
        return nullptr;
    }
    stop_point_at(++c.node_count);
    if (c.node_count > c.options.limits.nodes) {
        c.gave_up = true;
        c.report(kLimitExceeded, request.range,
                 fmt::format("the graph grows past {} nodes", c.options.limits.nodes))
            .with_help("loop over a tensor instead of a static range, or split the model");
        return nullptr;
    }
    // Outputs are named at the end, in one pass (names.h): until then a name is a hint.
    ir::Node* node =
        c.model.make_node(request.domain, request.op_type, request.inputs, request.output_count);
    for (ir::Attribute& attribute : request.attributes) {
        attribute.name = c.model.intern(attribute.name);
        attribute.reference = c.model.intern(attribute.reference);
    }
    node->attributes = std::move(request.attributes);
    node->overload = c.model.intern(request.overload);
    node->span = c.span(request.range);
    c.graph->insert(node);
    for (ir::Value* output : node->outputs()) {
        output->span = node->span;
    }

    std::vector<infer::Finding> findings;
    infer::Context context;
    context.model = &c.model;
    context.opset_imports = c.unit->imports;
    context.schemas = c.options.schemas;
    context.findings = &findings;
    context.fresh_dims = &c.fresh_dims;
    context.calls = &c.calls;
    context.subgraphs_are_typed = request.subgraphs_are_typed;
    infer::infer_node(context, *node);
    if (!findings.empty()) {
        report_findings(c, request, *node, findings);
    }
    return node;
}

void discard_behind(ir::Graph& graph, const ir::Node* last) {
    for (ir::Node* node = graph.last_node(); node != last; node = graph.last_node()) {
        for (const ir::Attribute& attribute : node->attributes) {
            if (ir::Graph* const* inner = attribute.get<ir::Graph*>()) {
                discard(**inner);
            }
        }
        // What still uses it belongs to no node: a subgraph that was given up after a mistake.
        for (const ir::Value* output : node->outputs()) {
            while (const ir::Use* use = output->first_use()) {
                use->user->set_input(use->index, nullptr);
            }
        }
        graph.remove(node);
    }
}

void discard(ir::Graph& graph) {
    discard_behind(graph, nullptr);
    graph.outputs.clear();
}

}  // namespace sardonyx::elaborate
