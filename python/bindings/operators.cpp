// Python's operators on Tensor. What they mean stands in lowering/, which elaborate uses too.
#include "lowering/operators.h"
#include "bindings/call.h"
#include "bindings/numpy.h"
#include "bindings/tensor.h"
#include "lowering/subscript.h"

namespace sardonyx::python {

namespace {

using eval::RuntimeValue;
using lowering::Binary;
using lowering::Compare;
using lowering::Unary;

// The emitter that lowering/operators.h asks for: each emitted node runs at once.
class EagerEmitter {
  public:
    using Value = RuntimeValue;

    Value emit(std::string_view op_type, std::initializer_list<Value> inputs,
               std::initializer_list<ir::Attribute> attributes = {}) {
        Operator op{"", opset(), std::string(op_type), nullptr};  // its schema is not needed
        return evaluate(op, {inputs.begin(), inputs.size()},
                        {attributes.begin(), attributes.size()}, 1)
            .front();
    }
    ElementType element(const Value& value) const {
        return value.is_tensor() ? value.tensor().element_type() : ElementType::kUndefined;
    }
    int rank(const Value& value) const { return value.is_tensor() ? value.tensor().rank() : -1; }
    Value int64s(std::vector<int64_t> values) {
        return Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values);
    }
    Value int64_scalar(int64_t value) { return Tensor::scalar(value); }
    Value scalar_like(const Value& like, double value) {
        return unwrap(tensor_from_doubles(element(like), {}, {&value, 1}));
    }
    // Every operator that lowering/ asks for is in it, and other evaluators, which lag behind the
    // newest opset, know it.
    int64_t opset() const { return 21; }
    Value fail(const std::string& message, const std::string& help) {
        raise(PyExc_TypeError, message + ": " + help);
    }
};

// The other operand of an operator; none: Python may ask the other operand's type instead.
RuntimeValue operand(nb::handle object, ElementType beside) {
    if (const PyTensor* tensor = as_tensor(object)) {
        return tensor->tensor;
    }
    if (is_literal(object)) {  // numpy.float64 is one, being a Python float
        return tensor_from_literal(object, beside);
    }
    return is_array(object) ? RuntimeValue(tensor_from_array(object)) : RuntimeValue();
}

nb::object wrap(RuntimeValue value) {
    return value_to_python(std::move(value), false);
}

nb::object not_implemented() {
    return nb::borrow(Py_NotImplemented);
}

template <Binary kOp, bool kReflected>
nb::object binary(const PyTensor& self, nb::handle other) {
    // The exponent of Pow has a type of its own: x ** 2 and x ** 0.5 both mean what they say.
    bool is_exponent = kOp == Binary::kPow && !kReflected;
    RuntimeValue value =
        operand(other, is_exponent ? ElementType::kUndefined : self.tensor.element_type());
    if (value.is_none()) {
        return not_implemented();
    }
    EagerEmitter e;
    return wrap(kReflected ? lowering::lower_binary(e, kOp, std::move(value), self.tensor)
                           : lowering::lower_binary(e, kOp, self.tensor, std::move(value)));
}

template <Compare kOp>
nb::object compare(const PyTensor& self, nb::handle other) {
    RuntimeValue value = operand(other, self.tensor.element_type());
    if (value.is_none()) {
        return not_implemented();
    }
    EagerEmitter e;
    return wrap(lowering::lower_compare(e, kOp, self.tensor, std::move(value)));
}

template <Unary kOp>
nb::object unary(const PyTensor& self) {
    EagerEmitter e;
    return wrap(lowering::lower_unary(e, kOp, self.tensor));
}

using Bound = lowering::SliceBound<RuntimeValue>;
using Item = lowering::SubscriptItem<RuntimeValue>;

std::optional<Bound> slice_bound(nb::handle bound) {
    if (bound.is_none()) {
        return std::nullopt;
    }
    nb::object number = nb::steal(PyNumber_Index(bound.ptr()));
    if (!number.is_valid()) {
        throw nb::python_error();
    }
    return Bound{nb::cast<int64_t>(number), {}};
}

Item subscript_item(nb::handle index) {
    Item item;
    if (index.is_none()) {
        item.kind = lowering::SubscriptKind::kNewAxis;
    } else if (index.ptr() == Py_Ellipsis) {
        item.kind = lowering::SubscriptKind::kEllipsis;
    } else if (PySlice_Check(index.ptr())) {
        item.kind = lowering::SubscriptKind::kSlice;
        item.lower = slice_bound(index.attr("start"));
        item.upper = slice_bound(index.attr("stop"));
        item.step = slice_bound(index.attr("step"));
    } else if (PyLong_Check(index.ptr()) && !PyBool_Check(index.ptr())) {
        item.index = nb::cast<int64_t>(index);
    } else {
        Tensor tensor = tensor_from_python(index);
        ElementType type = tensor.element_type();
        if ((!is_integer(type) && type != ElementType::kBool) || PyBool_Check(index.ptr())) {
            raise(PyExc_TypeError, "`" + text_from_python(nb::repr(index)) +
                                       "` is no index: give integers, slices, None, `...`, "
                                       "tensors of integers or a mask");
        }
        item.kind = lowering::SubscriptKind::kTensor;
        item.tensor = std::move(tensor);
    }
    return item;
}

}  // namespace

nb::object subscript(const Tensor& tensor, nb::handle index) {
    std::vector<Item> items;
    if (PyTuple_Check(index.ptr())) {
        for (nb::handle one : nb::borrow<nb::tuple>(index)) {
            items.push_back(subscript_item(one));
        }
    } else {
        items.push_back(subscript_item(index));
    }
    // Python ends a loop over x[0], x[1], ... at an IndexError.
    if (items.size() == 1 && items[0].kind == lowering::SubscriptKind::kIndex &&
        tensor.rank() > 0 &&
        (items[0].index >= tensor.dims()[0] || items[0].index < -tensor.dims()[0])) {
        raise(PyExc_IndexError, "index " + std::to_string(items[0].index) +
                                    " is out of range for an axis of " +
                                    std::to_string(tensor.dims()[0]));
    }
    EagerEmitter e;
    return wrap(lowering::lower_subscript(e, RuntimeValue(tensor), std::move(items)));
}

void bind_operators(nb::class_<PyTensor>& c) {
#define SDX_BINARY(name, op)                                             \
    c.def("__" name "__", binary<Binary::op, false>, nb::is_operator()); \
    c.def("__r" name "__", binary<Binary::op, true>, nb::is_operator());
    SDX_BINARY("add", kAdd)
    SDX_BINARY("sub", kSub)
    SDX_BINARY("mul", kMul)
    SDX_BINARY("matmul", kMatMul)
    SDX_BINARY("truediv", kDiv)
    SDX_BINARY("mod", kMod)
    SDX_BINARY("pow", kPow)
    SDX_BINARY("lshift", kLeftShift)
    SDX_BINARY("rshift", kRightShift)
    SDX_BINARY("or", kBitOr)
    SDX_BINARY("xor", kBitXor)
    SDX_BINARY("and", kBitAnd)
    SDX_BINARY("floordiv", kFloorDiv)
#undef SDX_BINARY
    c.def("__eq__", compare<Compare::kEq>, nb::is_operator())
        .def("__ne__", compare<Compare::kNotEq>, nb::is_operator())
        .def("__lt__", compare<Compare::kLt>, nb::is_operator())
        .def("__le__", compare<Compare::kLtE>, nb::is_operator())
        .def("__gt__", compare<Compare::kGt>, nb::is_operator())
        .def("__ge__", compare<Compare::kGtE>, nb::is_operator())
        .def("__neg__", unary<Unary::kMinus>)
        .def("__pos__", unary<Unary::kPlus>)
        .def("__invert__", unary<Unary::kInvert>);
    c.def("__hash__", [](nb::handle self) { return reinterpret_cast<Py_hash_t>(self.ptr()) >> 4; });
    // NumPy leaves `array + tensor` to the tensor.
    c.attr("__array_ufunc__") = nb::none();
}

}  // namespace sardonyx::python
