// The Python class Opset.
#pragma once

#include <cstdint>
#include <string>

#include "bindings/bindings.h"

namespace sardonyx::python {

struct Opset {
    std::string domain;  // "" for ai.onnx
    int64_t version = 1;
};

// The one Python object of an opset.
nb::object the_opset(const Opset& opset);

}  // namespace sardonyx::python
