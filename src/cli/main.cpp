// The program `sardonyx`: one file for each command.
//
//   arguments.cpp  the command line
//   build.cpp      a script to a .onnx file
//   run.cpp        a script or a model on given inputs
//   check.cpp      findings about scripts and models
//   decompile.cpp  a model to a script
//   import.cpp     a file of PyTorch to a model or a script, by the user's Python
//   view.cpp       the graph of a script or a model as a page, a picture or data
//   view_server.cpp a browser's way to the page
//   dump.cpp       tokens, tree or graph as text
//   explain.cpp    what a code means
//   completion.cpp what shells and `man` are told
//   lsp.cpp        the language server
//   python.cpp     the same by the user's Python, for `--python`
//   terminal.cpp   standard output and standard error
#include "cli/arguments.h"
#include "cli/python.h"
#include "cli/terminal.h"

namespace sardonyx::cli {
namespace {

struct Dispatch {
    int operator()(const BuildOptions& options) const { return run_build(options); }
    int operator()(const RunOptions& options) const { return run_run(options); }
    int operator()(const CheckOptions& options) const { return run_check(options); }
    int operator()(const DumpOptions& options) const { return run_dump(options); }
    int operator()(const ExplainOptions& options) const { return run_explain(options); }
    int operator()(const LspOptions& options) const { return run_lsp(options); }
    int operator()(const DecompileOptions& options) const { return run_decompile(options); }
    int operator()(const ImportOptions& options) const { return run_import(options); }
    int operator()(const ViewOptions& options) const { return run_view(options); }
    int operator()(const Answer& answer) const {
        answer.status == kSuccess ? print(answer.text) : print_error(answer.text);
        return answer.status;
    }
};

}  // namespace
}  // namespace sardonyx::cli

int main(int count, char** words) {
    using namespace sardonyx::cli;
    ignore_closed_pipes();
    end_on_interrupt();
    end_without_memory();
    command_first(count, words);
    Arguments arguments = parse_arguments(count, words);
    return finish(arguments.in_python ? run_in_python(arguments.command, count, words)
                                      : std::visit(Dispatch(), arguments.command));
}
