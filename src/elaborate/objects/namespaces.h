// Namespaces: classes of a file, their instances, and members of enumerations, as the evaluator
// sees them: names with values and methods.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elaborate/objects/context.h"
#include "elaborate/objects/unknowns.h"

namespace sardonyx::elaborate {

// A class, an instance or a member of an enumeration. Behind an Object of kModule.
class Namespace : public Environment {
  public:
    enum class Kind : uint8_t { kClass, kDataclass, kNamedTuple, kEnumeration, kInstance, kMember };

    Namespace(Kind kind, std::string name, const Namespace* of);

    const Kind kind;
    const std::string name;
    // The class of an instance or member, the first base of a class; null: there is none.
    const Namespace* const of;
    // Of a class, where its members are looked up: itself and then its bases, in Python's order.
    const std::vector<const Namespace*>& order() const { return order_; }
    // The bases of a class, where they are not `of` alone. False: Python finds no order of them.
    bool set_bases(const std::vector<const Namespace*>& bases);
    // What the call of a dataclass takes, in order.
    struct Parameter {
        std::string name;
        bool is_keyword = false;  // it is given by keyword only
        bool is_field = true;     // not an InitVar, which `__post_init__` is given
        bool is_given = true;     // not one of field(init=False)
    };
    std::vector<Parameter> parameters;  // none: its fields
    bool has_order = false;             // a dataclass whose instances are ordered by their fields
    bool is_open = false;  // types.SimpleNamespace, whose instances compare by all that they hold
    bool is_frozen = false;
    bool is_shown = false;      // an instance whose members a dict shows, so that they stay
    bool is_of_script = false;  // made while a script is compiled
    bool has_eq = true;         // a dataclass whose instances compare by fields
    bool has_repr = true;       // one whose instances show all of their fields
    std::optional<std::vector<std::string>> slots;  // nothing: instances take any member
    bool is_abc = false;                            // ABC or Protocol is among its bases
    bool is_protocol = false;                       // Protocol is its base
    std::vector<std::string> abstract;  // methods without which there are no instances of an ABC
    std::string_view exception;  // of exceptions: the class of Python's that it is derived from
    bool is_pythons = false;     // it stands for that class, of whose instances it is the class
    std::string enumeration;     // which class of `enum` is its base, as in "IntFlag"
    std::string of_values;       // "int" or "str": what the members of an enumeration are
    std::vector<std::string> fields;  // of a dataclass or named tuples, in order
    std::vector<Object> defaults;     // of named tuples: of the last fields
    Object outside;  // the class as the environment knows it; the error object: it does not
    std::shared_ptr<UnknownCause> unknown_all;  // not null: nothing of it is known any more
    // The `class` statement, and its file; null: it is made in another way.
    const syntax::OpaqueStmt* statement = nullptr;
    const syntax::Tree* tree = nullptr;
    Environment* file = nullptr;
    const void* made_by = nullptr;      // the function whose compilation has made the instance
    const ir::Graph* new_in = nullptr;  // where its `__init__` runs; null: that is over

    // As it is kept: of a method the function, of a property what computes it.
    std::optional<Object> lookup(std::string_view name) override;
    // The same without what is inherited.
    virtual std::optional<Object> lookup_own(std::string_view name);
    std::vector<std::string> names() override;
    void set(std::string_view name, Object value);
    void remove(std::string_view name);
    // Whether it holds the name itself, and not its class.
    bool has_own(std::string_view name) const { return find_own(name) != nullptr; }
    const Object* find_own(std::string_view name) const;  // null: it does not
    const std::vector<std::pair<std::string, Object>>& own_values() const { return values_; }
    // The object that stands for it.
    Object object();

  private:
    bool is_class() const { return kind != Kind::kInstance && kind != Kind::kMember; }

    friend bool is_class(const Object& object);

    std::weak_ptr<void> self_;
    std::vector<std::pair<std::string, Object>> values_;
    std::vector<const Namespace*> order_;  // empty: of no class
};

// Null: the object is no such thing.
Namespace* as_namespace(const Object& object);

// Whether it is a class of a file.
bool is_class(const Object& object);

// What makes an int or a string a member of an enumeration of the file.
struct ValuedMember final : OpaqueObject {
    explicit ValuedMember(Namespace* member) : member(member) {}
    std::string describe() const override { return member->name; }
    bool equals(const Object&) const override { return false; }
    bool redefines(std::string_view method) const override;
    Namespace* const member;
};

// The member of an enumeration that the object is, an int or string or not; null: it is none.
Namespace* as_member(const Object& object);

// Whether it is such a member whose text is that of its value: of an IntEnum, StrEnum or IntFlag.
bool is_shown_by_value(const Object& object);

// Whether Python compares or shows it by what it holds.
bool is_by_value(const Object& object);

// An instance that Python compares field by field, as those of most dataclasses; else null.
Namespace* compared_by_fields(const Object& object);

// The fields of such an instance, as a tuple; of a SimpleNamespace all that it holds, as a dict.
Object fields_of(Namespace& instance);

// The parameters of a dataclass.
std::vector<Namespace::Parameter> parameters_of(const Namespace& type);

// The names that `__slots__` or `__match_args__` holds, one string or a list of them; nothing: it
// is something else.
std::optional<std::vector<std::string>> texts_of(const Object& names);

// The class of an instance, a member of an enumeration or a named tuple; null: none of a program.
const Namespace* class_of(const Object& object);

// Whether a class is another one or derived from it.
bool is_derived(const Namespace* type, const Namespace* base);

// Whether the object is of the class, or of one that has it as a base.
bool is_a(const Object& object, const Namespace* type);

// The method of this name of an instance's class; nothing: it has none.
std::optional<Object> special_method(const Object& instance, std::string_view name);

// Whether Python asks the instance's class whether it is equal to something.
bool has_own_equality(const Object& object);

// Whether two objects are instances of one dataclass, which orders them by their fields.
bool are_ordered(const Object& a, const Object& b);

// The members of an enumeration, in order; nothing: it is none, or its members are mere values
// here.
std::optional<std::vector<Object>> members_of(const Object& enumeration);

// The member of such an enumeration that has this name or value; nothing: there is none.
std::optional<Object> member_named(const Object& enumeration, const Object& name);

std::optional<Object> member_of_value(const Object& enumeration, const Object& value);

// What `field(default_factory=...)` is until its class is called.
inline constexpr std::string_view kField = "dataclasses.field";

// What a function of a class of Python is kept as.
inline constexpr std::string_view kFunctionOfClass = "function";

// The object of a new namespace, which lives as long as the program.
std::pair<Object, Namespace*> make_namespace(Context& c, Namespace::Kind kind, std::string name,
                                             const Namespace* of);

// field(...) with this keyword, or any where `keyword` is empty.
bool is_field_of(const Object& value, std::string_view keyword);

}  // namespace sardonyx::elaborate
