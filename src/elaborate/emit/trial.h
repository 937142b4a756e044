// What has been done since a point, so that it can be taken back: the only way to try something.
#pragma once

#include <cstddef>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// What it takes back: nodes, names, changes of lists and dicts, findings, types that were noted,
// names of dims, inputs of loop bodies. What neither keeps nor takes back keeps.
class Trial {
  public:
    explicit Trial(Context& c);
    ~Trial() { keep(); }
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;

    void keep();
    // Everything, with all nodes that were put to the end of the graph.
    void take_back();
    // The same where what was tried stands in a graph of its own: its nodes are taken out, and
    // those that it has put into the graph around, constants, stay.
    void take_back(ir::Graph& tried);

    // Whether a list or dict was changed.
    bool has_changed_objects() const { return c_.changes.size() != changes_; }

  private:
    void take_back_state();

    Context& c_;
    Scope* scope_;  // null: it is decided
    ir::Graph* graph_;
    ir::Node* last_;
    diagnostics::Checkpoint said_;
    size_t types_;
    int fresh_;
    size_t mark_;
    size_t changes_;
    size_t inputs_;
};

}  // namespace sardonyx::elaborate
