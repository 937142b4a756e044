// NumPy arrays <-> tensors. NumPy is imported when the first array is made, not before: arrays can
// only exist in the process if NumPy has been imported.
#pragma once

#include "bindings/bindings.h"
#include "types/tensor.h"

namespace sardonyx::python {

// Whether `object` is a numpy.ndarray or a NumPy scalar.
bool is_array(nb::handle object);
bool is_ndarray(nb::handle object);

// The array's elements without a copy where NumPy's layout is ours: contiguous, native byte order,
// at least 8 bits wide. Raises TypeError for a dtype that ONNX has no element type for.
Tensor tensor_from_array(nb::handle array);

// A numpy.ndarray that shares the tensor's storage; it is writable if the storage has no other
// owner. Raises EvalError for an element type that needs ml_dtypes if that is not installed.
nb::object array_from_tensor(Tensor tensor);
// The same with elements of its own, which may be written: a copy where the storage is shared.
nb::object own_array_from_tensor(Tensor&& tensor);

// numpy.dtype of an element type; the same error.
nb::object dtype_of(ElementType type);
// The element type of a numpy.dtype or a scalar type such as numpy.float32; kUndefined: neither.
ElementType element_type_from_dtype(nb::handle object);

}  // namespace sardonyx::python
