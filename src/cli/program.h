// The program `sardonyx`: one file for each command.
//
//   arguments.cpp  the command line
//   build.cpp      a script to a .onnx file
//   run.cpp        a script or a model on given inputs
//   check.cpp      findings about scripts and models
//   decompile.cpp  a model to a script
//   import.cpp     a file of PyTorch to a model or a script, by the user's Python
//   view.cpp       the graph of a script or a model as a page, a picture or data
//   view_scene.cpp what the graph shows: models, runs, differences
//   view_server.cpp a browser's way to the page
//   info.cpp       what a model is
//   diff.cpp       in what two models differ
//   edit.cpp       a model to another one: convert, cut, rename, set-shape, merge, strip, extract
//   weights.cpp    the stored tensors of a model
//   testcase.cpp   a script to a folder of the onnx backend tests
//   model_file.cpp models as files and in pipes
//   dump.cpp       tokens, tree or graph as text
//   explain.cpp    what a code means
//   doctor.cpp     what was found on this machine
//   completion.cpp what shells and `man` are told
//   lsp.cpp        the language server
//   python.cpp     the same by the user's Python, for `--python`
//   terminal.cpp   standard output and standard error
#pragma once

namespace sardonyx::cli {

// What `main` does; the exit status. `words` may be put in another order.
int run_program(int count, char** words);

}  // namespace sardonyx::cli
