// The Python class Model: a model that runs with the native kernels.
#pragma once

#include <memory>

#include "base/file.h"
#include "bindings/bindings.h"
#include "eval/eval.h"
#include "ir/ir.h"

namespace sardonyx::python {

struct PyModel {
    std::shared_ptr<const ir::Model> model;
    FileStamps files;                        // that it is mapped from
    std::shared_ptr<const eval::Plan> plan;  // made by the first run
};

}  // namespace sardonyx::python
