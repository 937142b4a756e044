// What classes and functions of a running Python are to the compiler.
#include "elaborate/library/python_names.h"

#include <gtest/gtest.h>

#include "elaborate/library/call_caches.h"
#include "elaborate/library/library.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/plain.h"

namespace sardonyx::elaborate {
namespace {

TEST(ObjectCalled, IsFoundWherePythonHidesIt) {
    EXPECT_TRUE(is_builtin(*object_called("builtins", "len"), "len"));
    EXPECT_TRUE(is_builtin(*object_called("math", "floor"), "math.floor"));
    EXPECT_TRUE(object_called("_functools", "reduce").has_value());  // written in C
    EXPECT_TRUE(object_called("collections.abc", "Sequence").has_value());
    EXPECT_TRUE(object_called("onnx.helper", "make_tensor").has_value());
    EXPECT_TRUE(object_called("sardonyx._script", "script").has_value());
    EXPECT_TRUE(object_called("onnxscript.main", "script").has_value());
}

TEST(ObjectCalled, IsNothingWherePythonAnswers) {
    EXPECT_FALSE(object_called("", "len").has_value());
    EXPECT_FALSE(object_called("_", "len").has_value());
    EXPECT_FALSE(object_called("builtins", "no_such_name").has_value());
    EXPECT_FALSE(object_called("mine.sub", "script").has_value());
    EXPECT_FALSE(object_called("numpy", "concatenate").has_value());  // NumPy itself on arrays
    ASSERT_TRUE(library_attribute("numpy", "concatenate").has_value());
}

TEST(MemberOfModule, LeavesPathsAndArraysToPython) {
    EXPECT_TRUE(member_of_module("math", "pi").has_value());
    EXPECT_TRUE(member_of_module("numpy", "float32").has_value());
    EXPECT_FALSE(member_of_module("numpy", "load").has_value());
    EXPECT_FALSE(member_of_module("numpy", "concatenate").has_value());
    EXPECT_FALSE(member_of_module("mine", "load").has_value());
}

TEST(GenericClass, KnowsUnionsByBothNames) {
    for (std::string_view name : {"Union", "UnionType"}) {
        Object made = generic_class(name, {Object::none()});
        EXPECT_EQ(made.get<PythonType>().name, "Union");
        EXPECT_EQ(made.get<PythonType>().arguments.size(), 1u);
    }
}

TEST(MemberMadeBy, IsWhatItsMakerSays) {
    EXPECT_TRUE(member_made_by("", Object::integer(2)).is(ObjectKind::kInt));
    EXPECT_EQ(member_made_by("property", Object::none()).get<MethodObject>().name, "property");
    EXPECT_TRUE(is_field_of(member_made_by(kField, Object::none()), "default_factory"));
    EXPECT_TRUE(
        is_cached_function(member_made_by("functools.cache", Object::none()).get<MethodObject>()));
}

TEST(HeldByCall, CountsTheReferencesOfLists) {
    EXPECT_TRUE(is_held_by_call(Object::integer(1)));
    std::vector<Object> items;
    items.push_back(Object::list({Object::string("a")}));
    EXPECT_TRUE(is_held_by_call(Object::tuple(std::move(items))));
    Object list = Object::list({}), other = list;
    EXPECT_FALSE(is_held_by_call(list));
    EXPECT_TRUE(is_held_by_call(list, 2));
    EXPECT_FALSE(is_held_by_call(Object::make(ObjectKind::kConstant, Tensor::scalar(1.0F))));
}

}  // namespace
}  // namespace sardonyx::elaborate
