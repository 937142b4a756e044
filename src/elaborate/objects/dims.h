// What the names of dimensions in the annotations of one function stand for: each is bound where it
// is first seen alone, and checked everywhere after.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "diagnostics/diagnostic.h"
#include "types/type.h"

namespace sardonyx::elaborate {

class DimBindings {
  public:
    struct Binding {
        Dim dim;
        diagnostics::Span where;
    };
    // A dimension of an annotation that is certainly not what was found.
    struct Conflict {
        Dim annotated;
        Dim found;
        std::string name;  // a name in `annotated` that stands for something else; may be empty
        Binding binding;   // its own
        bool is_outside = false;  // of the bounds of `annotated`
    };

    // Names that stand alone in the annotation are bound to what was found, unless they are
    // already.
    void bind(const Type& annotation, const Type& found, diagnostics::Span where);
    // The first contradiction between dimensions; those of types whose ranks differ have none.
    std::optional<Conflict> conflict(const Type& annotation, const Type& found) const;
    // The annotation with what its names stand for. Those that are not bound stay, or make the
    // dimension unknown.
    enum class Unbound : uint8_t { kStay, kUnknown };
    Type substitute(const Type& annotation, Unbound unbound) const;

  private:
    Dim value_of(const Dim& dim, Unbound unbound) const;

    std::map<std::string, Binding, std::less<>> bindings_;
};

}  // namespace sardonyx::elaborate
