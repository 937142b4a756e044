// Types and dimensions for Python: their text, and the parts of such a text.
#include <algorithm>

#include "bindings/call.h"
#include "bindings/model.h"
#include "bindings/numpy.h"
#include "bindings/tensor.h"
#include "types/dim_names.h"
#include "types/element_type.h"
#include "types/numpy_names.h"
#include "types/type_meant.h"

namespace sardonyx::python {

namespace {

// A text that is not an expression is a name.
Dim dim_from_python(nb::handle given) {
    if (PyIndex_Check(given.ptr())) {
        return int_from_python(given);
    }
    return Dim::of_text(text_from_python(given));
}

nb::object dim_operation(const std::string& symbol, nb::handle left, nb::handle right) {
    std::optional<Dim> result = apply(symbol, dim_from_python(left), dim_from_python(right));
    if (!result) {
        raise(PyExc_ValueError, "there is no operation `" + symbol + "` of dimensions");
    }
    return dim_to_python(*result);
}

// The dimension after names have been replaced by other dimensions.
nb::object substitute(nb::handle given, const nb::dict& sizes) {
    Dim dim = dim_from_python(given);
    return dim_to_python(dim.substitute([&](std::string_view name) {
        nb::handle size = PyDict_GetItem(sizes.ptr(), text_to_python(name).ptr());
        return size.is_valid() ? dim_from_python(size) : Dim::symbol(name);
    }));
}

nb::tuple dim_symbols(nb::handle given) {
    nb::list names;
    for (const std::string& name : symbols_of(dim_from_python(given))) {
        names.append(text_to_python(name));
    }
    return nb::tuple(names);
}

// (kind, name of the element type, shape, text of the type inside, name of the key type).
nb::tuple type_parts(nb::handle given) {
    std::optional<Type> type = parse_type(text_from_python(given));
    if (!type.has_value() || !type->is_known()) {
        raise(PyExc_ValueError, "`" + text_from_python(given) + "` is not a type: write " +
                                    "\"FLOAT[N, 4]\" or \"Sequence[INT64]\"" +
                                    type_help(text_from_python(given)));
    }
    bool is_tensor = type->kind() == TypeKind::kTensor || type->kind() == TypeKind::kSparseTensor;
    nb::object element = is_tensor ? nb::none() : text_to_python(type->element().to_string());
    ElementType number = type->element_type();
    nb::object key = type->kind() == TypeKind::kMap ? text_to_python(name(number)) : nb::none();
    nb::object element_name =
        is_tensor && number != ElementType::kUndefined ? text_to_python(name(number)) : nb::none();
    nb::object dtype =
        is_tensor && number != ElementType::kUndefined ? dtype_of(number) : nb::none();
    nb::object dims = nb::none();
    if (is_tensor && type->has_shape()) {
        nb::list items;
        for (const Dim& dim : type->shape()) {
            items.append(dim_to_python(dim));
        }
        dims = nb::tuple(items);
    }
    return nb::make_tuple(text_to_python(type->to_string()), text_to_python(name(type->kind())),
                          element_name, dtype, dims, element, key);
}

nb::object class_of(const char* name) {
    return nb::module_::import_("sardonyx._types").attr(name);
}

}  // namespace

nb::object ModelState::dim(const Dim& dim) {
    if (!dim.is_symbolic()) {
        return dim_to_python(dim);
    }
    nb::object text = dim_to_python(dim);
    nb::object known = nb::borrow(PyDict_GetItem(dims.ptr(), text.ptr()));
    if (!known.is_valid()) {
        known = class_of("Dim")(text);
        dims[text] = known;
    }
    return known;
}

nb::object ModelState::shape(const Shape& shape) {
    bool is_last = last_dims.is_valid() &&
                   std::ranges::equal(shape, last_shape,
                                      [](const Dim& a, const Dim& b) { return a.equals(b); });
    if (!is_last) {
        nb::list list;
        for (const Dim& one : shape) {
            list.append(dim(one));
        }
        last_dims = nb::tuple(list);
        last_shape = shape;
    }
    return last_dims;
}

nb::object ModelState::type(const Type& type) {
    if (!type.is_known()) {
        return nb::none();
    }
    nb::object text = text_to_python(type.to_string());
    nb::object known = nb::borrow(PyDict_GetItem(types.ptr(), text.ptr()));
    if (!known.is_valid()) {
        known = class_of("Type")(text);
        types[text] = known;
    }
    return known;
}

void bind_model_types(nb::module_& m) {
    m.def("dim_operation", dim_operation, nb::arg("symbol"), nb::arg("left"), nb::arg("right"));
    m.def("dim_substitute", substitute, nb::arg("dim"), nb::arg("sizes"));
    m.def("dim_symbols", dim_symbols, nb::arg("dim"));
    m.def("type_parts", type_parts, nb::arg("text"));
    m.def(
        "element_name_meant",
        [](const nb::str& name) {
            return text_to_python(element_name_meant(text_from_python(name)));
        },
        nb::arg("name"));
}

}  // namespace sardonyx::python
