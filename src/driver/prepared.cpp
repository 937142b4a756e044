#include "driver/prepared.h"

#include <utility>

namespace sardonyx::driver {

namespace {

// Whether both requests certainly ask for the same model of a script: types and values of
// attributes are not compared.
bool ask_for_the_same(const ScriptRequest& a, const ScriptRequest& b) {
    auto is_plain = [](const elaborate::Options& options) {
        return options.input_types.empty() && options.output_types.empty() &&
               options.attributes.empty();
    };
    return is_plain(a.options) && is_plain(b.options) && a.form == b.form &&
           a.options.schemas == b.options.schemas && a.options.opset == b.options.opset &&
           a.options.ir_version == b.options.ir_version &&
           a.finish.producer_name == b.finish.producer_name &&
           a.finish.producer_version == b.finish.producer_version &&
           a.finish.metadata == b.finish.metadata && a.finish.runtime == b.finish.runtime;
}

}  // namespace

void PreparedModel::keep(const ScriptRequest& wanted, ReportedModel made) {
    kept_.reset();
    if (made.model != nullptr) {
        kept_ = Kept{wanted, std::move(made)};
    }
}

std::optional<ReportedModel> PreparedModel::take(const ScriptRequest& wanted) {
    std::optional<Kept> kept = std::exchange(kept_, std::nullopt);
    return kept && ask_for_the_same(kept->wanted, wanted) ? std::optional(std::move(kept->made))
                                                          : std::nullopt;
}

}  // namespace sardonyx::driver
