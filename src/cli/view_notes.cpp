#include "cli/view_notes.h"

#include <fmt/format.h>

#include <utility>

#include "cli/observers.h"
#include "cli/terminal.h"
#include "eval/eval.h"
#include "ir/graph_walk.h"
#include "models/statistics.h"
#include "models/values.h"

namespace sardonyx::cli {
namespace {

// What is shown with its elements needs no bars.
constexpr int64_t kFew = 4;

void note_tensor(const Tensor& tensor, const models::Histogram& found, view::Note& note) {
    const models::Statistics& known = found.statistics;
    if (found.seen < tensor.count() && found.seen > 0) {
        note.fields.emplace_back("seen",
                                 fmt::format("{} of {} elements", found.seen, tensor.count()));
    }
    if (!found.bars.empty()) {
        note.fields.emplace_back(
            "mean", fmt::format("{:.4g}, deviation {:.4g}", known.mean, known.deviation));
    }
    if (known.zero_count > 0) {
        note.fields.emplace_back("zeros", fmt::format("{} of {}", known.zero_count, found.seen));
    }
    note.bars = found.bars;
    note.least = known.least;
    note.greatest = known.greatest;
}

void note_stored(const ir::Value& value, view::Notes& notes) {
    const Tensor* tensor = models::stored_tensor(value);
    if (tensor == nullptr || tensor->count() <= kFew) {
        return;
    }
    models::Histogram found = models::histogram(*tensor);
    view::Note note;
    if (std::string range = models::statistics_text(found.statistics); !range.empty()) {
        note.fields.emplace_back("range", std::move(range));
        note_tensor(*tensor, found, note);
        notes.values.emplace(&value, std::move(note));
    }
}

}  // namespace

void note_weights(const ir::Model& model, view::Notes& notes) {
    auto visit = [&notes](const ir::Value& value) { note_stored(value, notes); };
    if (model.graph != nullptr) {
        models::for_each_value(*model.graph, visit);
    }
    for (const ir::Function* function : model.functions) {
        if (function->body != nullptr) {
            models::for_each_value(*function->body, visit);
        }
    }
}

void RunNotes::add(const ir::Value& value, const eval::RuntimeValue& found) {
    size_t times = ++times_[&value];
    view::Note note;
    note.fields.emplace_back("run", found.describe());
    if (found.is_tensor()) {
        // All elements: a single NaN counts.
        models::Statistics known = models::statistics(found.tensor());
        if (std::string range = models::statistics_text(known); !range.empty()) {
            note.fields.emplace_back("range", std::move(range));
        }
        note.has_nan = known.nan_count > 0;
        if (found.tensor().count() > kFew) {
            note_tensor(found.tensor(), models::histogram(found.tensor()), note);
        } else {
            note.fields.emplace_back("elements", to_string(found.tensor(), kFew));
        }
    }
    if (times > 1) {
        note.fields.emplace_back("times", fmt::format("{}; the last values", times));
    }
    notes_->values.insert_or_assign(&value, std::move(note));
}

void RunNotes::node_done(const ir::Node& node, std::span<const eval::RuntimeValue* const> outputs,
                         int depth) {
    (void)depth;
    for (size_t i = 0; i < outputs.size(); ++i) {
        const ir::Value* value = node.output(i);
        if (value->name.empty()) {
            continue;
        }
        add(*value, *outputs[i]);
        if (first_nan_.empty() && notes_->values[value].has_nan) {
            first_nan_ = fmt::format("`{}` of {}", value->name, describe_node(node));
            notes_->nodes[&node].is_first_nan = true;
        }
    }
}

void RunNotes::finish() {
    notes_->fields.emplace_back("values of the run", std::to_string(times_.size()));
    notes_->fields.emplace_back("first NaN", first_nan_.empty() ? "none" : first_nan_);
}

bool note_run(const ir::Model& model, const NamedValues& values, const InputOptions& options,
              const diagnostics::Sources* sources, view::Notes& notes) {
    eval::RunOptions run;
    run.seed = options.seed;
    Result<std::shared_ptr<const eval::Plan>> plan = eval::prepare(model);
    if (!plan.ok()) {
        print_error(plan.error().message);
        notes.fields.emplace_back("failed", plan.error().message);
        return false;
    }
    RunNotes own(&notes);
    for (const ir::Value* input : model.graph->inputs) {
        for (const auto& [name, value] : values) {
            if (name == input->name) {
                own.add(*input, value);
            }
        }
    }
    Observers observers(sources);
    Progress progress(static_cast<int64_t>(ir::node_count(*model.graph)));
    observers.add(&own);
    observers.add(&progress);
    Result<std::vector<eval::RuntimeValue>> results = eval::run(**plan, values, run, &observers);
    progress.finish();
    own.finish();
    if (!results.ok()) {
        std::string place =
            observers.failed_at().empty() ? std::string() : observers.failed_at() + ": ";
        print_error(place + results.error().message);
        notes.fields.emplace_back("failed", place + results.error().message);
    }
    return results.ok();
}

}  // namespace sardonyx::cli
