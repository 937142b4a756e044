// What objects say as annotations, of the source and of a running Python alike.
#include "elaborate/annotations.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sardonyx::elaborate {
namespace {

Object bare(ElementType type) {
    return Object::make(ObjectKind::kType, TypeObject{Type::tensor(type, Shape{}), false});
}

Object with(std::string name, std::vector<Object> arguments) {
    return Object::make(ObjectKind::kPythonType, PythonType{std::move(name), std::move(arguments)});
}

const Object kNumber = with("int", {});
const Object kFloat = bare(ElementType::kFloat);

TEST(Annotation, IsOfAnAttributeOrOfATensor) {
    EXPECT_EQ(annotation_of(kNumber)->attribute_type, ir::AttributeType::kInt);
    EXPECT_EQ(annotation_of(with("List", {kNumber}))->attribute_type, ir::AttributeType::kInts);
    EXPECT_EQ(annotation_of(with("Optional", {kNumber, Object::none()}))->attribute_type,
              ir::AttributeType::kInt);
    EXPECT_TRUE(annotation_of(with("bool", {}))->is_bool);
    EXPECT_FALSE(annotation_of(kFloat)->is_attribute);
    EXPECT_FALSE(annotation_of(kFloat)->explicit_shape);
    EXPECT_FALSE(annotation_of(with("Union", {kNumber, kFloat}))->is_attribute);
    EXPECT_FALSE(annotation_of(with("Literal", {Object::string("a")})).has_value());
    EXPECT_FALSE(annotation_of(Object::none()).has_value());
    EXPECT_FALSE(annotation_of(Object::element_type(ElementType::kFloat)).has_value());
}

TEST(Annotation, SaysTheElementsOfTensorsInLists) {
    EXPECT_EQ(annotation_of(kFloat)->element_type(), ElementType::kFloat);
    EXPECT_EQ(annotation_of(with("Sequence", {kFloat}))->element_type(), ElementType::kFloat);
    EXPECT_EQ(annotation_of(with("OPTIONAL", {with("list", {kFloat})}))->element_type(),
              ElementType::kFloat);
    EXPECT_EQ(annotation_of(with("Union", {kFloat, bare(ElementType::kDouble)}))->element_type(),
              ElementType::kUndefined);
    EXPECT_EQ(annotation_of(with("Mapping", {bare(ElementType::kInt64), kFloat}))->element_type(),
              ElementType::kUndefined);
    EXPECT_EQ(annotation_of(kNumber)->element_type(), ElementType::kUndefined);
}

TEST(Annotation, NamesTheResultsOfATuple) {
    EXPECT_EQ(annotated_results(kFloat, 3).size(), 1U);
    EXPECT_EQ(annotated_results(with("tuple", {kFloat, kNumber}), 3).size(), 2U);
    EXPECT_EQ(annotated_results(with("Tuple", {kFloat, Object::ellipsis()}), 3).size(), 3U);
    EXPECT_EQ(annotated_results(Object::tuple({kFloat, kFloat}), 3).size(), 2U);
}

}  // namespace
}  // namespace sardonyx::elaborate
