// Sardonyx: compiles ONNX Script, and inspects, saves and evaluates ONNX models.
//
//     sardonyx::Model model = sardonyx::compile_file("gelu.py");
//     model.save("gelu.onnx");
//     sardonyx::Array x = sardonyx::Array::of<float>({3}, {-1, 0, 1});
//     std::vector<sardonyx::Value> results = model.run({{"x", x}});
//     for (float y : std::get<sardonyx::Array>(results[0]).elements<float>()) { ... }
//
// Whatever fails throws sardonyx::Error or a class derived from it, and nothing else of its own.
// Objects are not shared between threads without a lock, unless all that is called is const.
#pragma once

#include <sardonyx/array.h>
#include <sardonyx/builder.h>
#include <sardonyx/check.h>
#include <sardonyx/compile.h>
#include <sardonyx/eager.h>
#include <sardonyx/error.h>
#include <sardonyx/kernels.h>
#include <sardonyx/model.h>
#include <sardonyx/session.h>
#include <sardonyx/tensor.h>
#include <sardonyx/type.h>
#include <sardonyx/weights.h>
