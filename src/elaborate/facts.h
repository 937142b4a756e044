// What a function of the model is built for: the facts of a call that its body may decide by.
//
// A script becomes one function for all calls as long as its body does not need to know more than
// its annotations say. Integers without an annotation and arguments that cannot be tensors (lists,
// functions, None) are always facts; other numbers, element types and ranks, and shapes become
// facts when the body turns out to need them.
// Calls with the same facts share a function.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "elaborate/objects/context.h"
#include "elaborate/signature.h"

namespace sardonyx::elaborate {

// How much of its arguments a function is built for; the first that suffices is taken.
enum class Detail : uint8_t { kAnnotations, kRanks, kShapes };

struct Fact {
    enum class Passing : uint8_t { kInput, kAttribute, kStatic };
    Passing passing = Passing::kInput;
    Object object;        // the argument; the tensors in a static one are inputs of the function
    syntax::Range range;  // of the argument
    Type type;            // of an input: what its annotation and the call say
};

// Whether the argument is a number of Python that is known when the graph runs, and the parameter's
// annotation does not make it a tensor.
bool is_open_number(const BoundParameter& parameter, const Fact& fact);

// The facts of a call, one for each parameter, from its arguments.
std::vector<Fact> facts_of(const std::vector<BoundParameter>& parameters,
                           const std::vector<Fact>& arguments, Detail detail);

// The type of an input as far as a function that is built to this detail knows it.
Type known_type(const Type& type, Detail detail);

// Equal for calls that may share a function. Nothing: an argument cannot be compared.
std::optional<std::string> fact_key(Context& c, const std::vector<Fact>& facts, Detail detail);

// The same for one object, whatever its tensors are.
std::optional<std::string> object_key(Context& c, const Object& object);

// What tells the function from others of its name, for people: "n_3__mode_edge". Empty: nothing.
std::string fact_suffix(const std::vector<BoundParameter>& parameters,
                        const std::vector<Fact>& facts, Detail detail);

// A copy with other objects in place of the tensors in it, which are visited in order.
Object replace_tensors(const Object& object, const std::function<Object(const Object&)>& replace);

// Whether a function in the object reads tensors of the place where it was made: another function
// of the model cannot.
bool captures_tensors(Context& c, const Object& object);

}  // namespace sardonyx::elaborate
