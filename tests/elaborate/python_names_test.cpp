// What classes and functions of a running Python are to the compiler.
#include "elaborate/library/python_names.h"

#include <gtest/gtest.h>

#include "elaborate/library/library.h"

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

}  // namespace
}  // namespace sardonyx::elaborate
