#include "elaborate/scopes/hidden_name.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

std::string help_for_hidden(Context& c, std::string_view text) {
    Environment* environment = c.function().environment;
    std::optional<Object> outside =
        environment != nullptr ? environment->known(text) : std::nullopt;
    if (!outside || !(outside->is(ObjectKind::kOpset) || outside->is(ObjectKind::kModule) ||
                      outside->is(ObjectKind::kScript) || outside->is(ObjectKind::kBuiltin) ||
                      outside->is(ObjectKind::kPythonType) || outside->is(ObjectKind::kOpaque))) {
        return {};
    }
    return fmt::format(
        "this `{}` is the script's own, and hides the one outside of it: give it another name",
        text);
}

}  // namespace sardonyx::elaborate
