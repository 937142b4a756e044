// What a Model of the public interface holds.
#pragma once

#include <sardonyx/model.h>

#include <memory>
#include <mutex>
#include <vector>

#include "base/file.h"
#include "eval/eval.h"
#include "ir/ir.h"
#include "proto/as_read.h"

namespace sardonyx {
inline namespace v1 {

struct Model::State {
    std::unique_ptr<ir::Model> model;  // without a graph: a function, functions[0]
    FileStamps files;                  // that it is mapped from
    proto::Source source;
    std::vector<Diagnostic> diagnostics;
    // Made by the first run. Runs are const, so several threads may come to it at once.
    std::mutex plan_lock;
    std::shared_ptr<const eval::Plan> plan;

    // The plan, which the first call makes.
    Result<std::shared_ptr<const eval::Plan>> prepared() {
        std::lock_guard<std::mutex> lock(plan_lock);
        if (plan == nullptr) {
            Result<std::shared_ptr<const eval::Plan>> made = eval::prepare(*model);
            if (!made.ok()) {
                return made;
            }
            plan = std::move(*made);
        }
        return plan;
    }
    const ir::Graph& graph() const {
        return model->graph != nullptr ? *model->graph : *model->functions[0]->body;
    }
};

}  // namespace v1
}  // namespace sardonyx
