// A model of the C interface.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/handles.h"
#include "api/state.h"

struct sdx_model {
    static constexpr uint32_t kKind = 0x736d6f64;
    struct Port {
        std::string name;
        std::string type;
    };

    using Kernels = std::shared_ptr<const sardonyx::eval::CustomOperators>;

    explicit sdx_model(std::shared_ptr<sardonyx::Model::State> shared, Kernels kernels = nullptr);

    // The plan with these kernels, which the first call makes.
    sardonyx::Result<std::shared_ptr<const sardonyx::eval::Plan>> prepared() const;

    uint32_t kind = kKind;
    std::atomic<int64_t> owners{1};
    std::shared_ptr<sardonyx::Model::State> state;
    std::vector<Port> inputs;
    std::vector<Port> outputs;
    Kernels custom;  // null: none
    // Without kernels the state has the plan.
    mutable std::mutex plan_lock;
    mutable std::shared_ptr<const sardonyx::eval::Plan> plan;
};
