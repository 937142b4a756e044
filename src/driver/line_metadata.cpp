#include "driver/line_metadata.h"

#include <fmt/format.h>

#include "ir/walk.h"

namespace sardonyx::driver {
namespace {

void set_metadata(ir::Node& node, const ir::Metadata& metadata) {
    node.metadata = metadata;
    ir::for_each_subgraph(node, [&metadata](ir::Graph& graph) {
        for (ir::Node& inner : graph) {
            set_metadata(inner, metadata);
        }
    });
}

// The line of the file that makes a node or one of its results; 0: a function that it calls.
uint32_t line_of_node(const ir::Node& node, const diagnostics::Sources& sources,
                      diagnostics::FileId file) {
    if (node.span.valid() && node.span.file == file) {
        return sources.position(file, node.span.begin).line;
    }
    for (const ir::Value* output : node.outputs()) {
        if (output->span.valid() && output->span.file == file) {
            return sources.position(file, output->span.begin).line;
        }
    }
    return 0;
}

}  // namespace

Result<void> add_line(LineMetadata& lines, int64_t line, Properties properties) {
    if (line < 1 || line > UINT32_MAX) {
        return Error{fmt::format("`line_metadata` has line {}: lines count from 1", line)};
    }
    lines[static_cast<uint32_t>(line)] = std::move(properties);
    return {};
}

void set_line_metadata(ir::Model& model, const diagnostics::Sources& sources,
                       diagnostics::FileId file, const LineMetadata& lines) {
    std::vector<ir::Node*> waiting;
    for (ir::Node& node : *model.graph) {
        waiting.push_back(&node);
        auto found = lines.find(line_of_node(node, sources, file));
        if (found == lines.end()) {
            continue;
        }
        ir::Metadata metadata;
        for (const auto& [key, value] : found->second) {
            metadata.emplace_back(model.intern(key), model.copy(value));  // keys alone are shared
        }
        for (ir::Node* one : waiting) {
            set_metadata(*one, metadata);
        }
        waiting.clear();
    }
}

}  // namespace sardonyx::driver
