// What to write for operators that other libraries have and ONNX has under another name, or not as
// one operator. They look like names of ONNX that mean something else: Silu like Selu, Flip like
// Clip, Sqr like Sqrt.
#pragma once

#include <string>
#include <string_view>

namespace sardonyx::ops {

// "write `x * op.Sigmoid(x)`, ..." for a name of PyTorch, NumPy, TensorFlow or JAX, in any spelling
// (`log_softmax`, `LogSoftmax`); empty: nothing is known of it.
std::string_view substitute(std::string_view name);

// The operator of ai.onnx that another library writes in its own way: Relu for `relu`, LogSoftmax
// for `log_softmax`, ReduceMean for `mean`. Empty: there is none.
std::string_view operator_like(std::string_view name);

// The help for a function of another library: "scripts call operators: `op.Relu(...)`". Empty:
// nothing is known of the name.
std::string help_for_function(std::string_view name);

}  // namespace sardonyx::ops
