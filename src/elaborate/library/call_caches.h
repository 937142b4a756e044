// functools.cache and lru_cache: functions that keep the results of their calls.
#pragma once

#include <optional>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object functools_cache(Context& c, const Arguments& a);
Object functools_lru_cache(Context& c, const Arguments& a);

// Whether it makes a function one that keeps its results: cache, lru_cache, lru_cache(...).
bool is_cache_decorator(const Object& object);

// Such a function, which keeps so many results: None for all.
Object cached_function(const Object& function, const Object& most);

// Whether it is such a function.
bool is_cached_function(const MethodObject& method);

// A call of such a function; nothing: the method is another one.
std::optional<Object> call_cached(Context& c, const MethodObject& method, const Arguments& a);

}  // namespace sardonyx::elaborate
