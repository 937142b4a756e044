// Calls of operators from Python: binding arguments by the operator's schema, and evaluating at
// once.
#pragma once

#include <list>
#include <span>
#include <string>
#include <vector>

#include "bindings/bindings.h"
#include "eval/eager.h"
#include "ops/ops.h"

namespace sardonyx::python {

// An operator of an opset.
struct Operator {
    std::string domain;
    int64_t version = 1;
    std::string name;
    const eval::OperatorEntry* entry = nullptr;  // null: the tables do not know its domain

    const ops::Schema* schema() const { return entry != nullptr ? entry->schema : nullptr; }
};

Operator make_operator(std::string domain, std::string name, int64_t version);

// op(*args, **kwargs), evaluated. One result, or a tuple of them. `kwargs` may be null.
nb::object call(nb::handle self, const Operator& op, const nb::args& args, nb::handle kwargs);

// A call whose arguments are bound by the operator's schema, and not checked further; an input that
// is left out is empty or None. Raises TypeError.
struct BoundCall {
    std::vector<nb::handle> inputs;  // of the arguments
    std::vector<ir::Attribute> attributes;
    std::list<std::string> names;  // of attributes that no schema names
};
BoundCall bind_call(const Operator& op, const nb::tuple& args, const nb::dict& kwargs);
// Evaluates with the native kernels, or with the evaluator that has been set, and fills `outputs`,
// as many as are wanted, which are none before. Raises EvalError.
void evaluate(const eval::OperatorEntry& entry, int64_t opset_version,
              std::span<const eval::RuntimeValue* const> inputs,
              std::span<const ir::Attribute> attributes, std::span<eval::RuntimeValue> outputs);

// The attribute that a Python value means for this schema row. Raises TypeError.
ir::Attribute attribute_from_python(const ops::AttributeSchema& schema, nb::handle value);
nb::object attribute_to_python(const ir::Attribute& attribute);
// The attribute that a value means where no schema says what it should be. Raises TypeError.
ir::Attribute implied_attribute(const std::string& name, nb::handle value);

// The attribute that a value means for a node of this operator in the model. The text of its name
// is `name`, which outlives it. Raises TypeError and ModelError.
ir::Attribute attribute_for(const ir::Model& model, std::string_view domain,
                            std::string_view op_type, const std::string& name, nb::handle value);

// Sets a Python evaluator to use instead of the native kernels; None: native.
void set_evaluator(nb::handle evaluator);
// Whether an evaluator other than the native kernels is active here.
bool has_evaluator();
// What tells which evaluator a block of the running thread or task has chosen.
void set_evaluator_choice(nb::handle choice);

// The types of sardonyx.onnx_types (and FLOAT["N"], Optional and Sequence of them), numpy dtypes
// and numbers as ONNX types. Nothing when the object means no type.
ElementType element_type_from_python(nb::handle object);
Type type_from_python(nb::handle object);
// The same of what is None, of which nothing is known, or a type. Raises TypeError.
Type stated_type(nb::handle given);
// The end of a message that refuses what was given for a type: empty, or what was meant.
std::string help_for_type(nb::handle given);
nb::list dims_of_annotation(nb::handle text);
// An int, the text of an expression, or None.
nb::object dim_to_python(const Dim& dim);

}  // namespace sardonyx::python
