#include "cli/program.h"

#include "cli/arguments.h"
#include "cli/command_words.h"
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
    int operator()(const DoctorOptions& options) const { return run_doctor(options); }
    int operator()(const LspOptions& options) const { return run_lsp(options); }
    int operator()(const DecompileOptions& options) const { return run_decompile(options); }
    int operator()(const ImportOptions& options) const { return run_import(options); }
    int operator()(const ViewOptions& options) const { return run_view(options); }
    int operator()(const InfoOptions& options) const { return run_info(options); }
    int operator()(const DiffOptions& options) const { return run_diff(options); }
    int operator()(const EditOptions& options) const { return run_edit(options); }
    int operator()(const WeightsOptions& options) const { return run_weights(options); }
    int operator()(const Answer& answer) const {
        answer.status == kSuccess ? print(answer.text) : print_error(answer.text);
        return answer.status;
    }
};

}  // namespace

int run_program(int count, char** words) {
    ignore_closed_pipes();
    end_on_interrupt();
    end_without_memory();
    command_first(count, words);
    Arguments arguments = parse_arguments(count, words);
    return finish(arguments.in_python ? run_in_python(arguments.command, count, words)
                                      : std::visit(Dispatch(), arguments.command));
}

}  // namespace sardonyx::cli
