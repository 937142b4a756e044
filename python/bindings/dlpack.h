// Tensors of other libraries (torch, JAX, ...) <-> ours, without a copy, as the DLPack standard has
// it: https://dmlc.github.io/dlpack/latest/python_spec.html
#pragma once

#include "bindings/bindings.h"
#include "types/tensor.h"

namespace sardonyx::python {

// Whether `object` offers its elements through DLPack.
bool has_dlpack(nb::handle object);

// A tensor on the elements of `object`, which is kept alive; elements that are not row-major are
// copied. Raises what `object.__dlpack__` raises, and TypeError for another device than the CPU and
// for elements that ONNX does not have.
Tensor tensor_from_dlpack(nb::handle object);

// What Tensor.__dlpack__ gives: a capsule on the tensor's elements, which must not be written (a
// consumer of DLPack 1.0 is told so). `options` are max_version, dl_device, copy and stream. Raises
// BufferError for STRING and for elements below 8 bits.
nb::object dlpack_from_tensor(const Tensor& tensor, const nb::kwargs& options);

}  // namespace sardonyx::python
