#include "elaborate/objects/type_objects.h"

#include <algorithm>
#include <string>

#include "elaborate/objects/namespaces.h"

namespace sardonyx::elaborate {
namespace {

constexpr std::string_view kLists[] = {"list", "List", "Sequence", "tuple", "Tuple", "Iterable"};
constexpr std::string_view kMaps[] = {"dict", "Dict", "Mapping"};

// What objects of a builtin class have in every version of Python that is supported, and in `maybe`
// what they have in some.
struct MembersRow {
    std::string_view type, names, maybe;
};

constexpr MembersRow kMembers[] = {
    {"int",
     " as_integer_ratio bit_length conjugate denominator from_bytes imag numerator real to_bytes ",
     " bit_count is_integer "},
    {"float", " as_integer_ratio conjugate fromhex hex imag is_integer real ", " from_number "},
    {"str",
     " capitalize casefold center count encode endswith expandtabs find format format_map index "
     "isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace "
     "istitle isupper join ljust lower lstrip maketrans partition removeprefix removesuffix "
     "replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip "
     "swapcase title translate upper zfill ",
     ""},
    {"list", " append clear copy count extend index insert pop remove reverse sort ", ""},
    {"tuple", " count index ", ""},
    {"dict", " clear copy fromkeys get items keys pop popitem setdefault update values ", ""},
    {kNoneType, "", ""},
    // What scripts can use of a tensor depends on the tensor.
    {"Tensor", "",
     " T astype device dtype is_scalar item mT ndim numpy onnx_dtype rank shape size to_device "
     "tolist type value "},
};

}  // namespace

std::optional<bool> has_builtin_member(std::string_view type, std::string_view name) {
    std::string word = " " + std::string(name) + " ";
    for (const MembersRow& row : kMembers) {
        bool is_asked = row.type == type || (row.type == "int" && type == "bool");
        if (is_asked && row.maybe.find(word) == std::string_view::npos) {
            return row.names.find(word) != std::string_view::npos;
        }
    }
    return std::nullopt;
}

bool is_builtin_type(std::string_view name) {
    return std::find(std::begin(kBuiltinTypes), std::end(kBuiltinTypes), name) !=
           std::end(kBuiltinTypes);
}

bool is_enumeration_type(std::string_view name) {
    constexpr std::string_view kTypes[] = {"Enum", "IntEnum", "IntFlag", "StrEnum"};
    return std::find(std::begin(kTypes), std::end(kTypes), name) != std::end(kTypes);
}

bool names_list(std::string_view python_type) {
    return std::find(std::begin(kLists), std::end(kLists), python_type) != std::end(kLists);
}

bool names_map(std::string_view python_type) {
    return std::find(std::begin(kMaps), std::end(kMaps), python_type) != std::end(kMaps);
}

std::vector<Object> union_members(const Object& type) {
    const PythonType* python = type.is(ObjectKind::kPythonType) ? &type.get<PythonType>() : nullptr;
    bool is_optional = python != nullptr && python->name == "Optional";
    if (python == nullptr || python->arguments.empty() ||
        (!is_optional && python->name != "Union")) {
        return {type};
    }
    std::vector<Object> all;
    auto add = [&all](const Object& one) {
        if (std::none_of(all.begin(), all.end(),
                         [&one](const Object& other) { return equal(one, other); })) {
            all.push_back(one);
        }
    };
    for (const Object& argument : python->arguments) {
        std::vector<Object> members = union_members(argument);
        std::for_each(members.begin(), members.end(), add);
    }
    if (is_optional) {
        add(Object::none());
    }
    return all;
}

bool is_of_union(const Object& object) {
    switch (object.kind()) {
        case ObjectKind::kType:
        case ObjectKind::kPythonType:
        case ObjectKind::kNone:
            return true;
        case ObjectKind::kElementType:
            return object.type_form() == TypeForm::kNumpyClass;
        case ObjectKind::kOpaque:
            return object.get<OpaqueObject>().is_class();
        default:
            return is_class(object);
    }
}

namespace {

// FLOAT, without a shape.
bool is_bare(const Object& object) {
    return object.is(ObjectKind::kType) && object.get<TypeObject>().type.is_tensor() &&
           !object.get<TypeObject>().explicit_shape;
}

// Mapping[INT64, FLOAT]; the keys of ONNX's maps are integers or strings.
std::optional<Type> named_map(std::span<const Object> arguments) {
    std::optional<Type> key = arguments.size() == 2 ? named_type(arguments[0]) : std::nullopt;
    std::optional<Type> value = key ? named_type(arguments[1]) : std::nullopt;
    bool is_key = key && key->is_tensor() &&
                  (key->element_type() == ElementType::kString || is_integer(key->element_type()));
    if (!is_key || !value) {
        return std::nullopt;
    }
    if (is_bare(arguments[1])) {
        value->set_shape(Shape());  // ONNX's maps hold scalars
    }
    return Type::map(key->element_type(), *std::move(value));
}

}  // namespace

std::optional<Type> named_type(const Object& object) {
    if (object.is(ObjectKind::kType)) {
        const Type& type = object.get<TypeObject>().type;
        return is_bare(object) ? Type::tensor(type.element_type()) : type;
    }
    if (!object.is(ObjectKind::kPythonType)) {
        return std::nullopt;
    }
    const PythonType& type = object.get<PythonType>();
    if (names_map(type.name)) {
        return named_map(type.arguments);
    }
    bool is_optional = type.name == kOptionalType, is_sparse = type.name == kSparseType;
    if (type.arguments.size() != 1 || (!is_optional && !is_sparse && !names_list(type.name))) {
        return std::nullopt;
    }
    std::optional<Type> element = named_type(type.arguments[0]);
    if (!element || (is_sparse && !element->is_tensor())) {
        return std::nullopt;
    }
    return is_optional ? Type::optional(*element)
           : is_sparse ? Type::sparse_tensor(element->element_type(), element->maybe_shape())
                       : Type::sequence(*element);
}

}  // namespace sardonyx::elaborate
