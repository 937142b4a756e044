// Types and dimensions for Python: their text, and the parts of such a text.
#include "bindings/call.h"
#include "bindings/model.h"
#include "bindings/numpy.h"
#include "bindings/tensor.h"
#include "types/element_type.h"

namespace sardonyx::python {

namespace {

// A text that is not an expression is a name.
Dim dim_from_python(nb::handle given) {
    if (PyIndex_Check(given.ptr())) {
        return int_from_python(given);
    }
    std::string text = text_from_python(given);
    return Dim::parse(text).value_or(Dim::symbol(text));
}

nb::object dim_operation(const std::string& symbol, nb::handle left, nb::handle right) {
    Dim a = dim_from_python(left), b = dim_from_python(right);
    Dim result = symbol == "+"     ? a + b
                 : symbol == "-"   ? a - b
                 : symbol == "*"   ? a * b
                 : symbol == "//"  ? floor_div(a, b)
                 : symbol == "%"   ? modulo(a, b)
                 : symbol == "max" ? max(a, b)
                                   : min(a, b);
    return dim_to_python(result);
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
    dim_from_python(given).substitute([&](std::string_view name) {
        nb::object text = text_to_python(name);
        if (PySequence_Contains(names.ptr(), text.ptr()) == 0) {
            names.append(text);
        }
        return Dim::symbol(name);
    });
    return nb::tuple(names);
}

std::string kind_name(TypeKind kind) {
    switch (kind) {
        case TypeKind::kTensor:
            return "tensor";
        case TypeKind::kSparseTensor:
            return "sparse_tensor";
        case TypeKind::kSequence:
            return "sequence";
        case TypeKind::kOptional:
            return "optional";
        case TypeKind::kMap:
            return "map";
        default:
            return "unknown";
    }
}

// (kind, name of the element type, shape, text of the type inside, name of the key type).
nb::tuple type_parts(nb::handle given) {
    std::optional<Type> type = parse_type(text_from_python(given));
    if (!type.has_value() || !type->is_known()) {
        raise(PyExc_ValueError, "`" + text_from_python(given) + "` is not a type: write " +
                                    "\"FLOAT[N, 4]\" or \"Sequence[INT64]\"");
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
    return nb::make_tuple(text_to_python(type->to_string()), kind_name(type->kind()), element_name,
                          dtype, dims, element, key);
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
}

}  // namespace sardonyx::python
