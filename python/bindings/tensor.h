// The Python class Tensor, and Python values <-> inputs and outputs of operators.
#pragma once

#include <memory>

#include "bindings/bindings.h"
#include "eval/eval.h"
#include "types/tensor.h"

namespace sardonyx::python {

// Where x[index] comes from: x[i][j] = v needs it (operators.cpp).
struct Origin {
    nb::object whole;  // a weak reference to x
    nb::object index;
    std::shared_ptr<const Origin> outer;  // of x; null: none, or too far away
    int depth = 1;                        // how many there are, this one included
};

struct PyTensor {
    eval::RuntimeValue value;  // a tensor, as operators take it
    nb::object array;          // what `.value` has returned or the tensor was made of; may be empty
    std::shared_ptr<const Origin> origin = {};  // null: not a part, or a copy of one

    const Tensor& tensor() const { return value.tensor(); }
};

// Null when `object` is no Tensor.
PyTensor* as_tensor(nb::handle object);
// The Tensor whose method is called. Raises TypeError if it was never initialised.
PyTensor& self_tensor(nb::handle self);
// A new Tensor. `array` may be empty.
nb::object make_tensor(Tensor&& tensor, nb::object array = {});

// Whether it is a TensorProto of the onnx package, judged by its members: onnx is not imported.
bool is_tensor_proto(nb::handle object);

// Python numbers, strings, and (nested) lists and tuples of them.
bool is_literal(nb::handle object);

// A literal as a tensor of `type`, or of the type that it implies when that is kUndefined: bool
// BOOL, int INT64, float FLOAT, str STRING. Raises TypeError: no such tensor.
Tensor tensor_from_literal(nb::handle literal, ElementType type);
// The type that it implies.
ElementType literal_type(nb::handle literal);

// Whether results of a call with this argument are Tensors: it is one, or a list with one in it,
// or a tensor of another library that is no NumPy array (it takes a Tensor through DLPack).
bool holds_tensor(nb::handle object);

// A Tensor, an array, a TensorProto, a literal, or what DLPack or `__array__` offers as a tensor.
Tensor tensor_from_python(nb::handle object, ElementType type = ElementType::kUndefined);

// None, a tensor, a list of tensors as a sequence, or a dict as a map. `declared`, where it is
// known, says which it is, and of which type the literals in it are; nobody checks the rest.
eval::RuntimeValue value_from_python(nb::handle object, const Type& declared = {});
// Tensors become Tensor or numpy.ndarray; sequences become lists, maps dicts.
enum class Given : uint8_t {
    kTensors,
    kArrays,  // whose elements are nobody else's: they may be written
    kViews,   // arrays that may share their elements
};
nb::object value_to_python(eval::RuntimeValue&& value, Given given);
inline nb::object value_to_python(eval::RuntimeValue&& value, bool as_arrays) {
    return value_to_python(std::move(value), as_arrays ? Given::kArrays : Given::kTensors);
}

// An argument of a script function as its body takes it: a Tensor (a literal becomes one of
// `element_type`, a TensorProto.DataType or 0), or a list of them.
nb::object argument(nb::handle object, int element_type, bool is_sequence = false);
// Converts the results of a body for its caller: arrays if asked for, unless the caller is a
// script.
nb::object results(nb::handle object, const nb::tuple& element_types, bool as_arrays);

// Whether a list (or a list in it) holds Tensors; and such a list as one tensor.
bool is_mixed_list(nb::handle object);
Tensor tensor_from_mixed_list(nb::handle list, ElementType type);
// Zeros, of the shape of a row.
nb::object row_of_zeros(const struct PyTensor& self);

// The operator methods of Tensor (operators.cpp): those that CPython calls through slots, and the
// others.
extern const PyType_Slot kOperatorSlots[];
void bind_operators(nb::class_<PyTensor>& c);
// Raises AttributeError: says what to write instead.
[[noreturn]] void no_member(const std::string& name);

// Where script functions run, results stay Tensors; see script.py.
bool inside_script();
void enter_script();
void leave_script();

}  // namespace sardonyx::python
