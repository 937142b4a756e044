// The tensor types of sardonyx.onnx_types as ONNX types. They are recognised by their attributes
// `dtype` and `shape`, so that their module need not be imported.
#include <span>

#include "bindings/call.h"
#include "bindings/environment.h"
#include "bindings/numpy.h"
#include "elaborate/annotations.h"
#include "proto/proto.h"
#include "types/annotation_dims.h"
#include "types/type_meant.h"

namespace sardonyx::python {

namespace {

// Those of one string: FLOAT["M N"].
Shape dims_from_python(nb::handle dim) {
    if (PyUnicode_Check(dim.ptr())) {
        Result<Shape> dims = annotation_dims(text_from_python(dim));
        if (!dims.ok()) {
            raise(PyExc_TypeError, dims.error().message);
        }
        return std::move(*dims);
    }
    return {PyLong_Check(dim.ptr()) ? Dim(int_from_python(dim)) : Dim()};
}

std::optional<Shape> shape_from_python(nb::handle shape) {
    if (shape.ptr() == Py_Ellipsis) {
        return std::nullopt;
    }
    Shape dims;
    if (PyTuple_Check(shape.ptr()) || PyList_Check(shape.ptr())) {
        for (nb::handle dim : nb::borrow<nb::object>(shape)) {
            Shape some = dims_from_python(dim);
            dims.insert(dims.end(), some.begin(), some.end());
        }
    } else if (!shape.is_none()) {
        dims = dims_from_python(shape);
    }
    return dims;
}

// The TypeProto that a TypeProto or ValueInfoProto of the onnx package is or has; not valid: it is
// neither.
nb::object type_proto_of(nb::handle object) {
    nb::object type = nb::getattr(object, "type", nb::none());
    nb::object proto = type.is_none() ? nb::borrow(object) : type;
    return nb::hasattr(proto, "tensor_type") ? proto : nb::object();
}

Type type_from_proto(nb::handle proto) {
    std::string bytes = text_from_python(proto.attr("SerializeToString")());
    return unwrap(proto::read_type(std::as_bytes(std::span(bytes))));
}

}  // namespace

ElementType element_type_from_python(nb::handle object) {
    if (PyLong_Check(object.ptr()) && !PyBool_Check(object.ptr())) {
        return element_type_from_number(int_from_python(object));
    }
    ElementType type = element_type_from_dtype(object);
    if (type != ElementType::kUndefined) {
        return type;
    }
    nb::object dtype = attribute_or_none(object, "dtype");
    if (!dtype.is_valid() || !PyType_Check(object.ptr())) {
        return ElementType::kUndefined;
    }
    return PyLong_Check(dtype.ptr()) ? element_type_from_number(int_from_python(dtype))
                                     : ElementType::kUndefined;
}

Type type_from_python(nb::handle object) {
    if (PyUnicode_Check(object.ptr())) {
        return parse_type(text_from_python(object)).value_or(Type());
    }
    if (!PyType_Check(object.ptr())) {
        nb::object proto = type_proto_of(object);
        return proto.is_valid() ? type_from_proto(proto)
                                : elaborate::annotated_type(object_from_python(object));
    }
    ElementType type = element_type_from_python(object);
    if (type == ElementType::kUndefined || !nb::hasattr(object, "shape")) {
        return {};
    }
    return Type::tensor(type, shape_from_python(object.attr("shape")));
}

std::string help_for_type(nb::handle given) {
    return PyUnicode_Check(given.ptr()) ? type_help(text_from_python(given)) : std::string();
}

Type stated_type(nb::handle given) {
    Type type = given.is_none() ? Type() : type_from_python(given);
    if (!type.is_known() && !given.is_none()) {
        raise(PyExc_TypeError, "`" + text_from_python(nb::repr(given)) + "` is not a type: write " +
                                   "`FLOAT[\"N\", 4]` of sardonyx, or \"FLOAT[N,4]\"" +
                                   help_for_type(given));
    }
    return type;
}

nb::object dim_to_python(const Dim& dim) {
    return dim.is_static()     ? nb::object(nb::int_(dim.value()))
           : dim.is_symbolic() ? text_to_python(dim.to_string())
                               : nb::none();
}

nb::list dims_of_annotation(nb::handle text) {
    nb::list dims;
    for (const Dim& dim : dims_from_python(text)) {
        dims.append(dim.is_symbolic() ? text_to_python(annotation_of_dim(dim))
                                      : dim_to_python(dim));
    }
    return dims;
}

}  // namespace sardonyx::python
