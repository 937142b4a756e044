#include "cli/plan_text.h"

#include "eval/eval.h"
#include "eval/plan/dump.h"
#include "infer/infer.h"
#include "ir/copy.h"
#include "models/values.h"

namespace sardonyx::cli {

Result<std::string> plan_text(const ir::Model& model) {
    std::unique_ptr<ir::Model> typed = ir::copy(model);
    // A function has the types that a call gives it, and a file does not say those of one call.
    for (ir::Function* function : typed->functions) {
        models::for_each_value(*function->body, [](ir::Value& value) { value.type = Type(); });
    }
    (void)infer::infer_model(*typed);
    SDX_ASSIGN(std::shared_ptr<const eval::Plan> plan, eval::prepare(*typed));
    return eval::dump(*plan);
}

}  // namespace sardonyx::cli
