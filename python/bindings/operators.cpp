// Python's operators on Tensor. What they mean stands in lowering/, which elaborate uses too.
#include "lowering/operators.h"
#include "bindings/call.h"
#include "bindings/numpy.h"
#include "bindings/tensor.h"
#include "lowering/item_assignment.h"
#include "lowering/members.h"
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
        return emit_variadic(op_type, {inputs.begin(), inputs.size()}, attributes);
    }
    Value emit_variadic(std::string_view op_type, std::span<const Value> inputs,
                        std::initializer_list<ir::Attribute> attributes = {}) {
        Operator op{"", opset(), std::string(op_type), nullptr};  // its schema is not needed
        return evaluate(op, inputs, {attributes.begin(), attributes.size()}, 1).front();
    }
    ElementType element(const Value& value) const {
        return value.is_tensor() ? value.tensor().element_type() : ElementType::kUndefined;
    }
    int rank(const Value& value) const { return value.is_tensor() ? value.tensor().rank() : -1; }
    int64_t dim(const Value& value, int64_t axis) const {
        axis += axis < 0 ? rank(value) : 0;
        return axis >= 0 && axis < rank(value) ? value.tensor().dims()[static_cast<size_t>(axis)]
                                               : -1;
    }
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
    Value fail_index(const std::string& message, const std::string& help) {
        raise(PyExc_IndexError, message + ": " + help);  // ends a loop over x[0], x[1], ...
    }
};

constexpr size_t kDeepest = 64;  // of lists in each other

bool holds_tensor(nb::handle object, size_t level = 0) {
    if (!PyList_Check(object.ptr()) && !PyTuple_Check(object.ptr())) {
        return as_tensor(object) != nullptr;
    }
    for (nb::handle item : nb::borrow<nb::object>(object)) {
        if (level < kDeepest && holds_tensor(item, level + 1)) {
            return true;
        }
    }
    return false;
}

struct MixedList {
    std::vector<int64_t> dims;
    std::vector<nb::object> leaves;
};

void collect(nb::handle object, size_t level, MixedList& out) {
    if (!PyList_Check(object.ptr()) && !PyTuple_Check(object.ptr())) {
        if (level != out.dims.size()) {
            raise(PyExc_ValueError, "a nested list whose rows differ in depth");
        }
        out.leaves.push_back(nb::borrow(object));
        return;
    }
    int64_t size = static_cast<int64_t>(nb::len(object));
    if (level == out.dims.size() && out.leaves.empty()) {
        out.dims.push_back(size);
    } else if (level >= out.dims.size() || out.dims[level] != size) {
        raise(PyExc_ValueError, "a nested list whose rows differ in length");
    }
    if (level >= kDeepest) {
        raise(PyExc_ValueError, "lists nested more than 64 deep");
    }
    for (nb::handle item : nb::borrow<nb::object>(object)) {
        collect(item, level + 1, out);
    }
}

// The other operand of an operator; none: Python may ask the other operand's type instead.
RuntimeValue operand(nb::handle object, ElementType beside) {
    if (const PyTensor* tensor = as_tensor(object)) {
        return tensor->tensor;
    }
    if (is_mixed_list(object)) {
        return tensor_from_mixed_list(object, beside);
    }
    if (is_literal(object)) {  // numpy.float64 is one, being a Python float
        return tensor_from_literal(object, beside);
    }
    bool is_tensor = is_array(object) || is_tensor_proto(object);
    return is_tensor ? RuntimeValue(tensor_from_python(object)) : RuntimeValue();
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

// (a // b, a % b)
template <bool kReflected>
nb::object quotient_and_rest(const PyTensor& self, nb::handle other) {
    nb::object quotient = binary<Binary::kFloorDiv, kReflected>(self, other);
    return quotient.ptr() == Py_NotImplemented
               ? quotient
               : nb::object(
                     nb::make_tuple(quotient, binary<Binary::kMod, kReflected>(self, other)));
}

nb::object absolute(const PyTensor& self) {
    EagerEmitter e;
    return wrap(e.emit("Abs", {RuntimeValue(self.tensor)}));
}

nb::object rounded(const PyTensor& self, nb::handle digits) {
    EagerEmitter e;
    return wrap(lowering::lower_round(e, RuntimeValue(self.tensor),
                                      digits.is_none() ? 0 : nb::cast<int64_t>(digits)));
}

nb::object transposed(const PyTensor& self) {
    EagerEmitter e;
    return wrap(e.emit("Transpose", {RuntimeValue(self.tensor)}));
}

nb::object matrix_transposed(const PyTensor& self) {
    EagerEmitter e;
    return wrap(lowering::lower_matrix_transpose(e, RuntimeValue(self.tensor)));
}

nb::object as_type(const PyTensor& self, nb::handle type) {
    ElementType element = PyLong_Check(type.ptr())
                              ? element_type_from_number(nb::cast<int64_t>(type))
                              : element_type_from_python(type);
    if (element == ElementType::kUndefined) {
        raise(PyExc_TypeError, "`" + text_from_python(nb::repr(type)) + "` is no element type");
    }
    EagerEmitter e;
    return wrap(e.emit("Cast", {RuntimeValue(self.tensor)},
                       {ir::make_attribute("to", static_cast<int64_t>(element))}));
}

[[noreturn]] void no_member(const PyTensor& self, const std::string& name) {
    (void)self;
    std::string instead(lowering::instead_of_method(name));
    raise(PyExc_AttributeError,
          instead.empty() ? "a tensor has no member `" + name + "`"
                          : "a tensor has no method `" + name + "`: write `" + instead + "`");
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
        Tensor tensor = is_mixed_list(index)
                            ? tensor_from_mixed_list(index, ElementType::kUndefined)
                            : tensor_from_python(index);
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

std::vector<Item> subscript_items(nb::handle index) {
    std::vector<Item> items;
    if (!PyTuple_Check(index.ptr())) {
        items.push_back(subscript_item(index));
        return items;
    }
    for (nb::handle one : nb::borrow<nb::tuple>(index)) {
        items.push_back(subscript_item(one));
    }
    return items;
}

// x[index] = value. The object gets a new tensor: storage that an array or another Tensor shares is
// never written.
void assign_item(PyTensor& self, nb::handle index, nb::handle value) {
    RuntimeValue update = operand(value, self.tensor.element_type());
    if (update.is_none()) {
        raise(PyExc_TypeError, "`" + kind_of(value) +
                                   "` is assigned to items of a tensor: give a tensor, a number or "
                                   "a list of numbers");
    }
    EagerEmitter e;
    RuntimeValue result = lowering::lower_item_assignment(
        e, RuntimeValue(self.tensor), subscript_items(index), std::move(update));
    self.tensor = result.tensor();
    self.array = nb::object();
}

}  // namespace

bool is_mixed_list(nb::handle object) {
    return as_tensor(object) == nullptr && holds_tensor(object);
}

// As elaborate's mixed lists: scalars side by side, or rows on top of each other.
Tensor tensor_from_mixed_list(nb::handle list, ElementType type) {
    MixedList mixed;
    collect(list, 0, mixed);
    for (nb::handle leaf : mixed.leaves) {
        if (type == ElementType::kUndefined && as_tensor(leaf) != nullptr) {
            type = as_tensor(leaf)->tensor.element_type();
        }
    }
    EagerEmitter e;
    std::vector<RuntimeValue> parts;
    size_t rows = 0;
    for (nb::handle leaf : mixed.leaves) {
        RuntimeValue value = tensor_from_python(leaf, type);
        bool is_row = value.tensor().rank() > 0 && value.tensor().count() != 1;
        rows += is_row ? 1 : 0;
        parts.push_back(is_row ? e.emit("Unsqueeze", {value, e.int64s({0})})
                               : e.emit("Reshape", {value, e.int64s({1})}));
    }
    if ((rows != 0 && rows != parts.size()) || (rows != 0 && mixed.dims.size() > 1)) {
        raise(PyExc_ValueError,
              "a list of tensors with axes and of scalars where a tensor is needed: give all items "
              "one shape");
    }
    RuntimeValue all = e.emit_variadic("Concat", parts, {ir::make_attribute("axis", int64_t{0})});
    return (mixed.dims.size() < 2 ? all : e.emit("Reshape", {all, e.int64s(mixed.dims)})).tensor();
}

nb::object subscript(const Tensor& tensor, nb::handle index) {
    EagerEmitter e;
    return wrap(lowering::lower_subscript(e, RuntimeValue(tensor), subscript_items(index)));
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
    c.def("__divmod__", quotient_and_rest<false>, nb::is_operator())
        .def("__rdivmod__", quotient_and_rest<true>, nb::is_operator())
        .def("__abs__", absolute)
        .def("__round__", rounded, nb::arg("digits") = nb::none())
        .def("__getattr__", no_member)
        .def("astype", as_type, nb::arg("dtype"), "The elements cast to another element type.")
        .def_prop_ro("T", transposed, "The axes in the opposite order.")
        .def_prop_ro("mT", matrix_transposed, "The last two axes in exchange.")
        .def_prop_ro("ndim", [](const PyTensor& self) { return self.tensor.rank(); })
        .def_prop_ro("size", [](const PyTensor& self) { return self.tensor.count(); });
    c.def("__setitem__", assign_item, nb::arg("index").none(), nb::arg("value").none());
    c.def("__hash__", [](nb::handle self) { return reinterpret_cast<Py_hash_t>(self.ptr()) >> 4; });
    // NumPy leaves `array + tensor` to the tensor.
    c.attr("__array_ufunc__") = nb::none();
}

}  // namespace sardonyx::python
