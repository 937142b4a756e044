#include "elaborate/objects/type_objects.h"

#include <algorithm>

namespace sardonyx::elaborate {
namespace {

constexpr std::string_view kLists[] = {"list", "List", "Sequence", "tuple", "Tuple", "Iterable"};

}  // namespace

bool names_list(std::string_view python_type) {
    return std::find(std::begin(kLists), std::end(kLists), python_type) != std::end(kLists);
}

std::optional<Type> named_type(const Object& object) {
    if (object.is(ObjectKind::kType)) {
        return object.get<TypeObject>().type;
    }
    if (!object.is(ObjectKind::kPythonType) || object.get<PythonType>().arguments.size() != 1) {
        return std::nullopt;
    }
    const PythonType& type = object.get<PythonType>();
    bool is_optional = type.name == kOptionalType;
    if (!is_optional && !names_list(type.name)) {
        return std::nullopt;
    }
    std::optional<Type> element = named_type(type.arguments[0]);
    if (!element) {
        return std::nullopt;
    }
    return is_optional ? Type::optional(*element) : Type::sequence(*element);
}

}  // namespace sardonyx::elaborate
