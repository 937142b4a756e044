// Classes of a file as the evaluator sees them: names with values and methods. Plain ones with at
// most one base of their kind, dataclasses, and enumerations; what else a class may be is not
// known.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "elaborate/array_functions.h"
#include "elaborate/arrays.h"
#include "elaborate/branch.h"
#include "elaborate/calls.h"
#include "elaborate/graph_loop.h"
#include "elaborate/lookup.h"
#include "elaborate/operator_binding.h"
#include "elaborate/signature.h"
#include "elaborate/unknowns.h"

namespace sardonyx::elaborate {

// A class, an instance or a member of an enumeration. Behind an Object of kModule.
class Namespace : public Environment {
  public:
    enum class Kind : uint8_t { kClass, kDataclass, kEnumeration, kInstance, kMember };

    Namespace(Kind kind, std::string name, const Namespace* of)
        : kind(kind), name(std::move(name)), of(of) {}

    const Kind kind;
    const std::string name;
    // The class of an instance or member, the base of a class; null: there is none.
    const Namespace* const of;
    bool is_frozen = false;
    bool has_eq = true;                         // a dataclass whose instances compare by fields
    std::vector<std::string> fields;            // of a dataclass, in order
    std::shared_ptr<UnknownCause> unknown_all;  // not null: nothing of it is known any more
    const ir::Graph* new_in = nullptr;          // where its `__init__` runs; null: that is over

    // As it is kept: of a method the function, of a property what computes it.
    std::optional<Object> lookup(std::string_view name) override;
    std::vector<std::string> names() override;
    void set(std::string_view name, Object value);
    // Whether it holds the name itself, and not its class.
    bool has_own(std::string_view name) const;
    // The object that stands for it.
    Object object();

  private:
    std::weak_ptr<void> self_;
    std::vector<std::pair<std::string, Object>> values_;
};

// Null: the object is no such thing.
Namespace* as_namespace(const Object& object);
// Whether Python compares or shows it by what it holds.
bool is_by_value(const Object& object);

// An instance that Python compares field by field, as those of most dataclasses; else null.
Namespace* compared_by_fields(const Object& object);
// The fields of such an instance, as a tuple.
Object fields_of(Namespace& instance);

// What a `class` statement binds; the error object after a diagnostic. `root`: what functions in it
// close over.
Object make_class(Context& c, const syntax::OpaqueStmt* statement, const ScriptFunction& top,
                  const std::shared_ptr<Scope>& root);
// What Python gives for the member `name`, which is kept as `found`: methods are bound, properties
// are computed.
Object bound_member(Context& c, Namespace& own, std::string_view name, const Object& found,
                    syntax::Range range);
// own.name = value; false after a diagnostic.
bool assign_to_member(Context& c, Namespace& own, std::string_view name, const Object& value,
                      syntax::Range range);
// Whether the instance is of the class, or of one that has it as a base.
bool is_a(const Namespace& instance, const Namespace* type);
// The method of this name of an instance's class; nothing: it has none.
std::optional<Object> special_method(const Object& instance, std::string_view name);
// The members of an enumeration, in order; nothing: it is none, or its members are mere values
// here.
std::optional<std::vector<Object>> members_of(const Object& enumeration);
// The member of such an enumeration that has this name or value; nothing: there is none.
std::optional<Object> member_named(const Object& enumeration, const Object& name);
std::optional<Object> member_of_value(const Object& enumeration, const Object& value);
// Calls a method of an instance.
Object call_method_of(Context& c, const Object& method, const Object& instance,
                      std::vector<Object> arguments, syntax::Range range);

// What `field(default_factory=...)` is until its class is called.
inline constexpr std::string_view kField = "dataclasses.field";

// Whether a builtin makes a method something else than one of instances.
bool is_method_decorator(const Object& object);

// A call of a class, or of an instance that has `__call__`.
Object instantiate(Context& c, Namespace& type, const Arguments& arguments);

}  // namespace sardonyx::elaborate
