// What annotations of parameters and results say.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// What an annotation says about a parameter or result.
struct Annotation {
    bool is_attribute = false;
    ir::AttributeType attribute_type = ir::AttributeType::kUndefined;
    bool is_bool = false;
    Type type;                   // of a tensor parameter; unknown: not said
    bool explicit_shape = true;  // false for bare FLOAT
    bool is_mistaken = false;    // an error has been reported

    // Of the tensor, or of those in a list; kUndefined: not said, or of an attribute.
    ElementType element_type() const;
};

inline constexpr std::string_view kDimensionHelp =
    "use a size, a name or an expression such as \"N\" or \"2*N+1\", or `None`; `...` alone for "
    "any "
    "shape";

// The bare type with these dims, as `FLOAT[2, "N"]` and `Annotated[FLOAT, 2, "N"]` give them. The
// error says what cannot be a dim.
Result<TypeObject> with_dims(const TypeObject& bare, std::span<const Object> dims);

// What an object says as an annotation; nothing: it is none.
std::optional<Annotation> annotation_of(const Object& object);
// The annotations of the results that one says: one, or those of a tuple; `count` of them for
// `tuple[T, ...]`.
std::vector<Object> annotated_results(const Object& annotation, size_t count);
// The type of the values that this object annotates; unknown: it says none, or is of an attribute.
Type annotated_type(const Object& annotation);

// The meaning of an annotation; unknown ones are reported as a warning and say nothing.
Annotation read_annotation(Context& c, const syntax::Expr* annotation);

// The results of a `->` annotation, as annotated_results() has them. Nothing when there is none.
std::optional<std::vector<Annotation>> read_results(Context& c, const syntax::Expr* annotation,
                                                    size_t count);

// Checks a value against what an annotation says of it, and gives its type what only that knows.
// `range` is the value's, `annotated` the annotation's; `what` is "`f` returns", "`y` is".
void check_annotated(Context& c, const diagnostics::Kind& kind, const Annotation& annotation,
                     ir::Value* value, std::string_view what, syntax::Range range,
                     syntax::Range annotated);

// The second place of a contradiction between dimensions.
void label_binding(diagnostics::Diagnostic& reported, const DimBindings::Conflict& conflict);

}  // namespace sardonyx::elaborate
