// Kernels of the C interface, and the call that one of them runs.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "api/handles.h"
#include "api/value_handle.h"
#include "eval/dispatch/custom.h"

struct sdx_kernels {
    static constexpr uint32_t kKind = 0x736b726e;
    uint32_t kind = kKind;
    sardonyx::eval::CustomOperators table;
};

struct sdx_call {
    static constexpr uint32_t kKind = 0x7363616c;
    uint32_t kind = kKind;
    sardonyx::eval::KernelContext* context = nullptr;
    std::vector<sdx_value> inputs;
    // What attributes that the kernel has asked for point to.
    std::deque<sdx_value> values;
    std::deque<std::string> texts;
    std::deque<std::vector<const char*>> text_lists;
    std::deque<std::vector<double>> floats;
};
