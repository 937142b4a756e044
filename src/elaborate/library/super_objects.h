// `super()` in methods: the members of the class behind the one that the method is written in.
#pragma once

#include <optional>
#include <string_view>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// super(), super(Class, self)
Object py_super(Context& c, const Arguments& a);

// object.__init__ of an instance, where no class of the program has one.
Object object_init(Context& c, const Arguments& a);

// What super().name is; nothing: the method is no such object.
std::optional<Object> super_member(Context& c, const MethodObject& method, std::string_view name,
                                   syntax::Range range);

}  // namespace sardonyx::elaborate
