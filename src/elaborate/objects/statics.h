// Python's arithmetic, comparisons and conversions on static objects.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "elaborate/objects/context.h"
#include "lowering/operators.h"

namespace sardonyx::elaborate {

// Reports `static-error`; returns the error object.
[[gnu::cold]] Object refuse(Context& c, syntax::Range range, std::string message,
                            std::string help = {});

// Whether static_binary() answers for these operands: numbers, strings, lists, tuples, element
// types.
bool is_static_operand(const Object& object);

// Python's result; the error object and a diagnostic for what Python refuses, for integers past
// 128 bits and for results past Limits::text_bytes.
Object static_binary(Context& c, lowering::Binary op, const Object& a, const Object& b,
                     syntax::Range range);

Object static_unary(Context& c, lowering::Unary op, const Object& a, syntax::Range range);

// ==, !=, <, <=, >, >=, is, is not, in, not in.
Object static_compare(Context& c, syntax::CompareOp op, const Object& a, const Object& b,
                      syntax::Range range);

// Python's truth value; nothing for an object that is not static.
std::optional<bool> truth(const Object& object);

// Whether a dict may have it as a key: it is known, and hashable to Python; else reports.
bool check_key(Context& c, const Object& key, syntax::Range range);

// A set of static values; the error object, after a diagnostic, where a tensor is among them.
Object make_set(Context& c, const std::vector<Object>& items, syntax::Range range);

}  // namespace sardonyx::elaborate
