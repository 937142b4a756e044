// Python's operators on Tensor. Their meaning is defined in lowering/, which elaborate uses, too.
// The operators are slots of the type, so CPython calls them without looking up a method.
#include "lowering/operators.h"

#include "bindings/call.h"
#include "bindings/dlpack.h"
#include "bindings/numpy.h"
#include "bindings/operands.h"
#include "bindings/subscripts.h"
#include "bindings/surface.h"
#include "bindings/tensor.h"
#include "eager/emitter.h"
#include "lowering/item_assignment.h"
#include "lowering/members.h"
#include "lowering/subscript.h"
#include "lowering/symbols.h"

namespace sardonyx::python {

namespace {

using eval::RuntimeValue;
using lowering::Binary;
using lowering::Compare;
using lowering::Unary;

using EagerEmitter = eager::Emitter<Surface>;
using Value = EagerEmitter::Value;

nb::object wrap(EagerEmitter& e, Value value) {
    return make_tensor(e.take(value));
}

// The operand of an operator; null: Python may ask the other operand's type instead.
Value operand(EagerEmitter& e, nb::handle object, ElementType beside) {
    if (const PyTensor* tensor = as_tensor(object)) {
        return &tensor->value;
    }
    if (is_mixed_list(object)) {
        return e.keep(tensor_from_mixed_list(object, beside));
    }
    if (is_literal(object)) {  // numpy.float64 is one, being a Python float
        return e.keep(tensor_from_literal(object, beside));
    }
    bool is_tensor = is_array(object) || is_tensor_proto(object) || has_dlpack(object);
    return is_tensor ? e.keep(tensor_from_python(object)) : nullptr;
}

nb::object not_implemented() {
    return nb::borrow(Py_NotImplemented);
}

// The element type of a Tensor; kUndefined for other objects.
ElementType settled_type(nb::handle object) {
    const PyTensor* tensor = as_tensor(object);
    return tensor != nullptr ? tensor->tensor().element_type() : ElementType::kUndefined;
}

struct TensorOperands : PythonOperands {
    static ElementType settled_type(nb::handle object) { return python::settled_type(object); }
    static Value value(EagerEmitter& e, nb::handle object, ElementType type) {
        return operand(e, object, type);
    }
};

// At least one of the two is a Tensor.
nb::object binary(Binary op, nb::handle left, nb::handle right) {
    EagerEmitter e;
    Value value = lowering::lower_binary_of(e, op, TensorOperands(), left, right);
    return value == nullptr ? not_implemented() : wrap(e, value);
}

template <Binary kOp>
PyObject* binary_slot(PyObject* left, PyObject* right) {
    return guarded([&] { return binary(kOp, left, right); });
}

PyObject* power_slot(PyObject* base, PyObject* exponent, PyObject* modulus) {
    return guarded([&] {
        return modulus == Py_None ? binary(Binary::kPow, base, exponent) : not_implemented();
    });
}

// (a // b, a % b)
PyObject* divmod_slot(PyObject* left, PyObject* right) {
    return guarded([&]() -> nb::object {
        nb::object quotient = binary(Binary::kFloorDiv, left, right);
        return quotient.ptr() == Py_NotImplemented
                   ? quotient
                   : nb::object(nb::make_tuple(quotient, binary(Binary::kMod, left, right)));
    });
}

// In the order of Py_LT, Py_LE, Py_EQ, Py_NE, Py_GT, Py_GE.
constexpr Compare kCompares[] = {Compare::kLt,    Compare::kLtE, Compare::kEq,
                                 Compare::kNotEq, Compare::kGt,  Compare::kGtE};

PyObject* compare_slot(PyObject* left, PyObject* right, int op) {
    return guarded([&] {
        EagerEmitter e;
        Value a = &self_tensor(left).value;
        Value b = operand(e, right, settled_type(left));
        return b == nullptr ? not_implemented()
                            : wrap(e, lowering::lower_compare(e, kCompares[op], a, b));
    });
}

template <Unary kOp>
PyObject* unary_slot(PyObject* self) {
    return guarded([&] {
        EagerEmitter e;
        return wrap(e, lowering::lower_unary(e, kOp, &self_tensor(self).value));
    });
}

PyObject* absolute_slot(PyObject* self) {
    return guarded([&] {
        EagerEmitter e;
        return wrap(e, e.emit("Abs", {&self_tensor(self).value}));
    });
}

int contains_slot(PyObject* self, PyObject* item) {
    nb::object found = nb::steal(guarded([&] {
        EagerEmitter e;
        const PyTensor& tensor = self_tensor(self);
        Value value = operand(e, item, tensor.tensor().element_type());
        if (value == nullptr) {
            raise(PyExc_TypeError, "`" + kind_of(item) + "` cannot be an element of a tensor");
        }
        return wrap(e, lowering::lower_contains(e, &tensor.value, value));
    }));
    return found.is_valid() ? PyObject_IsTrue(found.ptr()) : -1;
}

nb::object rounded(const PyTensor& self, nb::handle digits) {
    EagerEmitter e;
    return wrap(
        e, lowering::lower_round(e, &self.value, digits.is_none() ? 0 : int_from_python(digits)));
}

nb::object transposed(const PyTensor& self) {
    EagerEmitter e;
    return wrap(e, e.emit("Transpose", {&self.value}));
}

nb::object matrix_transposed(const PyTensor& self) {
    EagerEmitter e;
    return wrap(e, lowering::lower_matrix_transpose(e, &self.value));
}

nb::object as_type(const PyTensor& self, nb::handle type) {
    ElementType element = PyLong_Check(type.ptr()) ? element_type_from_number(int_from_python(type))
                                                   : element_type_from_python(type);
    if (element == ElementType::kUndefined) {
        raise(PyExc_TypeError,
              "`" + text_from_python(nb::repr(type)) +
                  "` is not an element type: give one, as in `x.astype(INT64.dtype)`");
    }
    EagerEmitter e;
    return wrap(e, e.emit("Cast", {&self.value},
                          {ir::make_attribute("to", static_cast<int64_t>(element))}));
}

using Item = lowering::SubscriptItem<Value>;

struct TensorIndices {
    static bool is_value(nb::handle) { return false; }
    static Value tensor(EagerEmitter& e, nb::handle index) {
        return e.keep(is_mixed_list(index) ? tensor_from_mixed_list(index, ElementType::kUndefined)
                                           : tensor_from_python(index));
    }
};

// x[index] = value. The object gets a new tensor: storage that an array or another Tensor shares is
// never written.
void assign_item(PyTensor& self, nb::handle index, nb::handle value) {
    EagerEmitter e;
    Value update = operand(e, value, self.tensor().element_type());
    if (update == nullptr) {
        raise(PyExc_TypeError, "`" + kind_of(value) +
                                   "` is assigned to items of a tensor: give a tensor, a number or "
                                   "a list of numbers");
    }
    Value result = lowering::lower_item_assignment(
        e, &self.value, subscript_items(e, index, TensorIndices()), update);
    self.value.tensor() = e.take(result);
    self.array = nb::object();
}

// x[index]
nb::object item_of(nb::handle self, nb::handle index) {
    constexpr int kMostOrigins = 4;
    const PyTensor& whole = self_tensor(self);
    EagerEmitter e;
    std::vector<Item> items = subscript_items(e, index, TensorIndices());
    std::shared_ptr<Origin> origin;
    if (lowering::gives_view(e, items)) {
        origin = std::make_shared<Origin>(Origin{nb::weakref(self), nb::borrow(index), nullptr});
        if (whole.origin != nullptr && whole.origin->depth < kMostOrigins) {
            origin->outer = whole.origin;
            origin->depth = whole.origin->depth + 1;
        }
    }
    nb::object part = wrap(e, lowering::lower_subscript(e, &whole.value, std::move(items)));
    as_tensor(part)->origin = std::move(origin);
    return part;
}

// x[indices[at]][indices[at + 1]]... = value
void assign_deep(nb::handle self, const std::vector<nb::object>& indices, size_t at,
                 nb::handle value) {
    if (at + 1 == indices.size()) {
        assign_item(self_tensor(self), indices[at], value);
        return;
    }
    nb::object part = item_of(self, indices[at]);
    assign_deep(part, indices, at + 1, value);
    assign_item(self_tensor(self), indices[at], part);
}

// After x[index] = value, where x may be written as a part of a tensor: y[i][index] = value changes
// y. A part that has a name, or stands in a list, is a tensor of its own.
void assign_to_whole(nb::handle part) {
    size_t depth =
        nb::cast<size_t>(nb::module_::import_("sardonyx._items").attr("chained_subscripts")());
    std::vector<nb::object> indices;
    nb::object whole;
    const Origin* origin = self_tensor(part).origin.get();
    for (; indices.size() < depth; origin = origin->outer.get()) {
        if (origin == nullptr) {
            raise(PyExc_TypeError,
                  "an assignment to items of what a mask or a list of indices selects, which is a "
                  "copy: give all indices in one pair of brackets: `x[i, j] = v`");
        }
        indices.insert(indices.begin(), origin->index);
        whole = origin->whole();
    }
    if (whole.is_valid() && !whole.is_none()) {  // else nobody sees it
        assign_deep(whole, indices, 0, part);
    }
}

int assign_slot(PyObject* self, PyObject* index, PyObject* value) {
    nb::object done = nb::steal(guarded([&] {
        if (value == nullptr) {
            raise(PyExc_TypeError, "items of a tensor cannot be deleted: select the others");
        }
        assign_item(self_tensor(self), index, value);
        // Only a part that nobody else holds, so that it has no name, can be written as x[i][j] =
        // v; that spares all other assignments the look at the source (_items.py).
        if (Py_REFCNT(self) == 1) {
            assign_to_whole(self);
        }
        return nb::none();
    }));
    return done.is_valid() ? 0 : -1;
}

PyObject* subscript_slot(PyObject* self, PyObject* index) {
    return guarded([&] { return item_of(self, index); });
}

PyObject* row_slot(PyObject* self, Py_ssize_t index) {
    return guarded([&] { return item_of(self, nb::int_(index)); });
}

}  // namespace

nb::object row_of_zeros(const PyTensor& self) {
    EagerEmitter e;
    const Dims& dims = self.tensor().dims();
    std::vector<int64_t> row(dims.begin() + 1, dims.end());
    return wrap(e, e.emit("Expand", {e.scalar_like(&self.value, 0), e.int64s(std::move(row))}));
}

#define SDX_SLOT(name, function) \
    { Py_##name, reinterpret_cast<void*>(function) }
const PyType_Slot kOperatorSlots[] = {
    SDX_SLOT(nb_add, binary_slot<Binary::kAdd>),
    SDX_SLOT(nb_subtract, binary_slot<Binary::kSub>),
    SDX_SLOT(nb_multiply, binary_slot<Binary::kMul>),
    SDX_SLOT(nb_matrix_multiply, binary_slot<Binary::kMatMul>),
    SDX_SLOT(nb_true_divide, binary_slot<Binary::kDiv>),
    SDX_SLOT(nb_remainder, binary_slot<Binary::kMod>),
    SDX_SLOT(nb_power, power_slot),
    SDX_SLOT(nb_lshift, binary_slot<Binary::kLeftShift>),
    SDX_SLOT(nb_rshift, binary_slot<Binary::kRightShift>),
    SDX_SLOT(nb_or, binary_slot<Binary::kBitOr>),
    SDX_SLOT(nb_xor, binary_slot<Binary::kBitXor>),
    SDX_SLOT(nb_and, binary_slot<Binary::kBitAnd>),
    SDX_SLOT(nb_floor_divide, binary_slot<Binary::kFloorDiv>),
    SDX_SLOT(nb_divmod, divmod_slot),
    SDX_SLOT(nb_negative, unary_slot<Unary::kMinus>),
    SDX_SLOT(nb_positive, unary_slot<Unary::kPlus>),
    SDX_SLOT(nb_invert, unary_slot<Unary::kInvert>),
    SDX_SLOT(nb_absolute, absolute_slot),
    SDX_SLOT(tp_richcompare, compare_slot),
    SDX_SLOT(sq_contains, contains_slot),
    SDX_SLOT(sq_item, row_slot),
    SDX_SLOT(mp_subscript, subscript_slot),
    SDX_SLOT(mp_ass_subscript, assign_slot),
    {0, nullptr},
};
#undef SDX_SLOT

void no_member(const std::string& name) {
    std::string instead(lowering::instead_of_method(name));
    raise(PyExc_AttributeError,
          instead.empty() ? "a tensor has no member `" + name + "`"
                          : "a tensor has no method `" + name + "`: write `" + instead + "`");
}

void bind_operators(nb::class_<PyTensor>& c) {
    c.def("__round__", rounded, nb::arg("digits") = nb::none())
        .def("__getattr__", [](const PyTensor&, const std::string& name) { no_member(name); })
        .def("astype", as_type, nb::arg("dtype"), "The elements cast to another element type.")
        .def_prop_ro("T", transposed, "The axes in the opposite order.")
        .def_prop_ro("mT", matrix_transposed, "The last two axes in exchange.")
        .def_prop_ro("ndim", [](const PyTensor& self) { return self.tensor().rank(); })
        .def_prop_ro("size", [](const PyTensor& self) { return self.tensor().count(); });
    c.def("__hash__", [](nb::handle self) { return reinterpret_cast<Py_hash_t>(self.ptr()) >> 4; });
}

}  // namespace sardonyx::python
