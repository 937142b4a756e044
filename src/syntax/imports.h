// Which packages a source imports, from its tokens alone: imports in branches, functions and `try`
// count as those at the top do, and mistakes elsewhere in the text do not matter.
#pragma once

#include <string_view>

namespace sardonyx::syntax {

// Whether `import package`, `import package.x` or `from package... import ...` is in the text,
// behind which a NUL byte must stand.
bool imports_package(std::string_view text, std::string_view package);

}  // namespace sardonyx::syntax
