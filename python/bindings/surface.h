// What eager calls need of Python (eager/surface.h): its objects are the arguments.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/call.h"
#include "bindings/tensor.h"
#include "eager/surface.h"

namespace sardonyx::python {

struct Surface {
    using Argument = nb::handle;

    static bool is_there(nb::handle object) { return object.is_valid(); }
    static bool is_given(nb::handle object) { return !object.is_none(); }
    static const eval::RuntimeValue* held(nb::handle object) {
        const PyTensor* tensor = as_tensor(object);
        return tensor != nullptr ? &tensor->value : nullptr;
    }
    static bool is_literal(nb::handle object) { return python::is_literal(object); }
    static bool is_list(nb::handle object) { return PyList_Check(object.ptr()); }
    static ElementType literal_type(nb::handle object) { return python::literal_type(object); }
    static Tensor from_literal(nb::handle object, ElementType type) {
        return tensor_from_literal(object, type);
    }
    static bool is_list_of_tensors(nb::handle object) { return is_mixed_list(object); }
    static Tensor from_list_of_tensors(nb::handle object, ElementType type) {
        return tensor_from_mixed_list(object, type);
    }
    static eval::RuntimeValue from_other(nb::handle object) { return value_from_python(object); }
    static bool is_tensor(nb::handle object) { return holds_tensor(object); }
    static ir::Attribute attribute(const ops::AttributeSchema& schema, nb::handle object) {
        return attribute_from_python(schema, object);
    }
    // With the active evaluator.
    static void evaluate(const eval::OperatorEntry& entry, int64_t opset_version,
                         std::span<const eval::RuntimeValue* const> inputs,
                         std::span<const ir::Attribute> attributes,
                         std::span<eval::RuntimeValue> outputs) {
        python::evaluate(entry, opset_version, inputs, attributes, outputs);
    }
    [[noreturn]] static void refuse(eager::Wrong wrong, const std::string& message) {
        raise(wrong == eager::Wrong::kType    ? PyExc_TypeError
              : wrong == eager::Wrong::kValue ? PyExc_ValueError
              : wrong == eager::Wrong::kIndex ? PyExc_IndexError
                                              : eval_error(),
              message);
    }
};

}  // namespace sardonyx::python
