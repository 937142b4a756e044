#include "bindings/declared.h"

#include "bindings/numpy.h"

namespace sardonyx::python {
namespace {

ElementType element_type_of(const Type& type) {
    return type.is_tensor() ? type.element_type() : ElementType::kUndefined;
}

// Numbers, strings, scalars of NumPy.
Tensor tensor_of_items(const nb::list& items, ElementType type) {
    return is_literal(items)
               ? tensor_from_literal(items, type)
               : tensor_from_array(nb::module_::import_("numpy").attr("asarray")(items));
}

eval::RuntimeValue declared_map(const nb::dict& dict, const Type& declared) {
    auto map = eval::make_map(
        tensor_of_items(nb::list(dict.keys()), declared.element_type()),
        tensor_of_items(nb::list(dict.values()), element_type_of(declared.element())));
    if (!map.ok()) {
        raise(PyExc_TypeError, map.error().message);
    }
    return std::move(*map);
}

eval::RuntimeValue declared_sequence(nb::handle items, const Type& declared) {
    auto sequence = std::make_shared<eval::Sequence>();
    for (nb::handle item : nb::borrow<nb::object>(items)) {
        sequence->items.push_back(declared_value(item, declared.element()));
        if (sequence->items.back().is_tensor()) {
            sequence->element_type = sequence->items.back().tensor().element_type();
        }
    }
    return std::shared_ptr<const eval::Sequence>(std::move(sequence));
}

}  // namespace

// The nesting is that of the type: no list is followed into itself.
eval::RuntimeValue declared_value(nb::handle object, const Type& declared) {
    if (declared.kind() == TypeKind::kOptional) {
        return object.is_none() ? eval::RuntimeValue() : declared_value(object, declared.element());
    }
    if (declared.kind() == TypeKind::kMap && PyDict_Check(object.ptr())) {
        return declared_map(nb::borrow<nb::dict>(object), declared);
    }
    bool is_list = PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
    if (declared.kind() == TypeKind::kSequence && is_list) {
        return declared_sequence(object, declared);
    }
    return is_literal(object) ? tensor_from_literal(object, element_type_of(declared))
                              : value_from_python(object);
}

}  // namespace sardonyx::python
