// The classes of `collections` that dicts are of, and what counts in Counters.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "elaborate/objects/context.h"
#include "lowering/operators.h"

namespace sardonyx::elaborate {

std::string_view class_name(const DictObject& dict);

// The class of this name, `dict` among them; nothing: it is none.
std::optional<DictClass> dict_class(std::string_view name);

// Whether both are of one class, and of defaultdicts also with one factory.
bool are_of_one_class(const DictObject& a, const DictObject& b);

// A dict of the same class without items.
DictObject emptied(const DictObject& dict);

// Adds what `source` counts, a dict of numbers or items of any kind, or takes it away with the sign
// -1, as Counter.update and Counter.subtract do. False after a diagnostic.
bool add_counts(Context& c, DictObject& counter, const Object& source, int sign,
                syntax::Range range);

// `|` of two dicts, and +, -, & and | of two Counters, which keep what is counted more than 0
// times. Nothing: another operator, other classes, or counts that are not known.
std::optional<Object> dict_binary(Context& c, lowering::Binary op, const Object& a, const Object& b,
                                  syntax::Range range);

// Pairs of an item and its count, the most frequent ones first. Nothing: counts are not known.
std::optional<std::vector<Object>> most_common(const DictObject& counter);

}  // namespace sardonyx::elaborate
