// The Python class Opset.
#pragma once

#include <cstdint>
#include <string>

namespace sardonyx::python {

struct Opset {
    std::string domain;  // "" for ai.onnx
    int64_t version = 1;
};

}  // namespace sardonyx::python
