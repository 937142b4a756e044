// Notebooks of Jupyter (.ipynb): their code cells as one script, and findings in that script as
// findings in the cells.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "elaborate/elaborate.h"

namespace sardonyx::driver {

struct NotebookCell {
    diagnostics::FileId file;  // "book.ipynb:cell 3", with the text as the notebook has it
    uint32_t begin = 0;        // where it begins in the script
};

// A notebook in a program.
struct Notebook {
    diagnostics::FileId script;
    std::vector<NotebookCell> cells;
};

bool is_notebook(std::string_view path);

// The sources of the code cells, in order. Nothing for a notebook of another language. Error: it is
// none, or of a format before 4.
Result<std::vector<std::string>> notebook_cells(std::string_view json);

// A cell without what IPython alone understands, as long as it was: lines of magics (`%cd`, `!ls`,
// `x?`) become unknown values, cells of magics (`%%bash`) comments.
std::string without_magics(std::string cell);

// Loads a notebook as a script whose cells share their names. Null: it cannot be read, or a cell is
// no Python, which the findings say.
elaborate::FileModule* load_notebook(elaborate::Program& program, const std::string& path,
                                     Notebook& notebook);

// Says of findings in a script made of cells what they mean where `without_magics` has put unknown
// values.
void explain_magics(elaborate::Program& program, diagnostics::FileId script);

// Moves findings and types from the script to the cells.
void move_to_cells(elaborate::Program& program, const Notebook& notebook,
                   std::vector<diagnostics::Inlay>& types);

}  // namespace sardonyx::driver
