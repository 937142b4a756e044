// What a compiled model is given beside what its script says: by callers, on every surface.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "driver/line_metadata.h"
#include "ir/edit.h"
#include "models/runtimes.h"

namespace sardonyx::driver {

struct Finish {
    std::string producer_name;                               // empty: what the script says
    std::string producer_version;                            // the same
    std::shared_ptr<const LineMetadata> metadata = nullptr;  // of nodes, by lines of the script
    std::optional<models::Runtime> runtime = std::nullopt;   // of ONNX Runtime, that it must fit
};

// Changes the model in these ways; `file` is the one of the lines. Error: it has what the release
// cannot run.
Result<void> finish_model(ir::Model& model, const Finish& finish,
                          const diagnostics::Sources& sources, diagnostics::FileId file);

// Makes the model what it would be if it had been written and read: no tensor of it shares memory
// with arrays of the caller, which may change, and it has the IR version that it needs.
void make_lasting(ir::Model& model);

// A model that a program is still building, as it is now, with the IR version that it needs.
std::unique_ptr<ir::Model> snapshot(const ir::Model& model, ir::Editor& editor);

}  // namespace sardonyx::driver
