#include "driver/finish.h"

#include "ir/copy.h"
#include "ir/own.h"
#include "models/fit_runtime.h"
#include "proto/proto.h"

namespace sardonyx::driver {

Result<void> finish_model(ir::Model& model, const Finish& finish,
                          const diagnostics::Sources& sources, diagnostics::FileId file) {
    if (!finish.producer_name.empty()) {
        model.producer_name = model.intern(finish.producer_name);
    }
    if (!finish.producer_version.empty()) {
        model.producer_version = model.intern(finish.producer_version);
    }
    if (finish.metadata != nullptr && !finish.metadata->empty()) {
        set_line_metadata(model, sources, file, *finish.metadata);
    }
    if (finish.runtime) {
        SDX_TRY(models::fit_runtime(model, *finish.runtime));
    }
    return {};
}

void make_lasting(ir::Model& model) {
    ir::own_tensors(model);
    model.ir_version = proto::needed_ir_version(model);
}

std::unique_ptr<ir::Model> snapshot(const ir::Model& model, ir::Editor& editor) {
    editor.settle();
    std::unique_ptr<ir::Model> copied = ir::copy(model);
    copied->ir_version = proto::needed_ir_version(*copied);
    return copied;
}

}  // namespace sardonyx::driver
