// Control flow made by a program: the node stands in its graph from the beginning, so that its
// graphs see what is around them, and is finished when they are.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "build/nodes.h"

namespace sardonyx::build {

// An `If` without branches and outputs yet.
Result<ir::Node*> open_if(const Site& site, ir::Value* condition, std::string_view name);
// One of its branches, which is filled next.
Result<ir::Graph*> open_branch(const Site& site, ir::Node& node, std::string_view attribute);
// Makes the values what the branch gives; `branch.graph` is the branch.
Result<void> close_branch(const Site& branch, std::span<ir::Value* const> values);
// Gives the node the outputs that both branches have.
Result<ir::Node*> close_if(const Site& site, ir::Node& node);

// Takes a block that will not be complete out of the model, and then the nodes that were made for
// it alone.
Result<void> abandon(const Site& site, ir::Node& node, std::span<ir::Node* const> made = {});

struct Loop {
    ir::Node* node = nullptr;  // a `Loop` without outputs yet
    ir::Graph* body = nullptr;
    ir::Value* iteration = nullptr;
    ir::Value* condition = nullptr;
    std::vector<ir::Value*> carried;  // as the body gets them
};
struct LoopRequest {
    ir::Value* trips = nullptr;      // null: no limit
    ir::Value* condition = nullptr;  // of the first iteration; null: true
    std::span<ir::Value* const> carried;
    std::span<const Type> types;  // of the carried values in all iterations; unknown: the first's
    std::string_view name;
};
Result<Loop> open_loop(const Site& site, const LoopRequest& request);
struct LoopEnd {
    ir::Value* condition = nullptr;  // null: as it was
    std::span<ir::Value* const> carried;
    std::span<ir::Value* const> stacked;  // gathered from all iterations
};
// The node's outputs are what is carried out of the last iteration, then what is stacked.
Result<ir::Node*> close_loop(const Site& site, const Loop& loop, const LoopEnd& end);

}  // namespace sardonyx::build
