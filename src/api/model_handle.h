// A model of the C interface.
#pragma once

#include <atomic>
#include <memory>
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

    explicit sdx_model(std::shared_ptr<sardonyx::Model::State> shared);

    uint32_t kind = kKind;
    std::atomic<int64_t> owners{1};
    std::shared_ptr<sardonyx::Model::State> state;
    std::vector<Port> inputs;
    std::vector<Port> outputs;
};
