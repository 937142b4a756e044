// A model that has been compiled before anybody asked for it, as when a script is defined: the
// first request for the same model gets it.
#pragma once

#include <optional>

#include "driver/driver.h"
#include "driver/report.h"

namespace sardonyx::driver {

class PreparedModel {
  public:
    // In place of what was kept before; one with errors is not kept.
    void keep(const ScriptRequest& wanted, ReportedModel made);
    void forget() { kept_.reset(); }
    // Nothing: another model was kept, or none. Forgets it in any case.
    std::optional<ReportedModel> take(const ScriptRequest& wanted);

  private:
    struct Kept {
        ScriptRequest wanted;
        ReportedModel made;
    };
    std::optional<Kept> kept_;
};

}  // namespace sardonyx::driver
