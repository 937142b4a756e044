// In what two models differ.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/ir.h"

namespace sardonyx::models {

struct DiffOptions {
    bool names = false;  // names of inner values and nodes, and documentation, too
};

enum class ChangeKind : uint8_t {
    kHeader,     // what a model says of itself: opsets, metadata ...
    kInterface,  // inputs and outputs
    kAdded,
    kRemoved,
    kOperator,
    kAttribute,
    kEdge,    // what a node reads
    kWeight,  // a stored tensor: its type, or how far its elements are from the others
    kType,
    kName,
};
std::string_view name(ChangeKind kind);  // "header", "added", ...

struct Change {
    ChangeKind kind;
    std::string graph;          // "graph `main`", "function `d:f`", "`then_branch` of `y` in ..."
    std::string what;           // the node or value, or the part of the model
    std::string before, after;  // empty: nothing
};

// Two graphs side by side, in the order of the second; a mark of `changed` has changes.
struct DiffLine {
    enum class Mark : uint8_t { kSame, kAdded, kRemoved, kChanged } mark;
    std::string before, after;
    // The nodes, as long as the models live; null: none.
    const ir::Node* first = nullptr;
    const ir::Node* second = nullptr;
};
struct DiffGraph {
    std::string title;
    std::vector<DiffLine> lines;
    bool differs = false;
};

struct ModelDiff {
    std::vector<Change> changes;  // empty: the models are the same
    std::vector<DiffGraph> graphs;
};

// Inputs, outputs, nodes, weights and types; what the standard has as a default is the same as
// nothing. The order of nodes is free, and so are the names of inner values.
ModelDiff diff(const ir::Model& a, const ir::Model& b, const DiffOptions& options);

// As `diff -u` marks lines: what differs with the three lines around it, and the changes below.
std::string diff_text(const ModelDiff& diff, std::string_view a, std::string_view b);
std::string diff_json(const ModelDiff& diff);
// A page with both side by side, without scripts.
std::string diff_html(const ModelDiff& diff, std::string_view a, std::string_view b);

}  // namespace sardonyx::models
