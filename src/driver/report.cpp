#include "driver/report.h"

#include "diagnostics/render.h"

namespace sardonyx::driver {

Report report_of(const diagnostics::Sources& sources, const diagnostics::Diagnostics& found) {
    if (found.items().empty()) {
        return {};
    }
    return {diagnostics::render_terminal(sources, found, {}),
            diagnostics::render_json(sources, found)};
}

}  // namespace sardonyx::driver
