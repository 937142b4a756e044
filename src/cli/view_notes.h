// What a graph that is shown says beside the model: how its weights are spread, and what a run
// gave.
#pragma once

#include <span>
#include <string>
#include <unordered_map>

#include "cli/run_inputs.h"
#include "diagnostics/source.h"
#include "eval/run/observer.h"
#include "view/notes.h"

namespace sardonyx::cli {

// Of the tensors that the model holds.
void note_weights(const ir::Model& model, view::Notes& notes);

// Of the values of a run. Of what runs several times, as in a Loop, the last values are kept.
class RunNotes final : public eval::RunObserver {
  public:
    // `notes` must outlive this.
    explicit RunNotes(view::Notes* notes) : notes_(notes) {}
    void add(const ir::Value& value, const eval::RuntimeValue& found);
    void node_done(const ir::Node& node, std::span<const eval::RuntimeValue* const> outputs,
                   int depth) override;
    // What the page says of the run as a whole.
    void finish();

  private:
    view::Notes* notes_;
    std::unordered_map<const ir::Value*, size_t> times_;
    std::string first_nan_;  // empty: none yet
};

// Runs the model. The notes say how far it came; false: it has failed, and why has been printed.
bool note_run(const ir::Model& model, const NamedValues& values, const InputOptions& options,
              const diagnostics::Sources* sources, view::Notes& notes);

}  // namespace sardonyx::cli
