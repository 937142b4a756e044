// What a Model of the public interface holds.
#pragma once

#include <sardonyx/model.h>

#include <memory>
#include <vector>

#include "ir/ir.h"

namespace sardonyx {
inline namespace v1 {

struct Model::State {
    std::unique_ptr<ir::Model> model;  // without a graph: a function, functions[0]
    std::vector<Diagnostic> diagnostics;

    const ir::Graph& graph() const {
        return model->graph != nullptr ? *model->graph : *model->functions[0]->body;
    }
};

}  // namespace v1
}  // namespace sardonyx
