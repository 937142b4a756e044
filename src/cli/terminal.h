// Standard output and standard error: what is written there, and in which colours.
#pragma once

#include <string>
#include <string_view>

#include "diagnostics/diagnostic.h"

namespace sardonyx::cli {

enum class Color { kAuto, kAlways, kNever };

// A reader that goes away early is no error: what is left is dropped.
void ignore_closed_pipes();
// Ctrl-C ends the program at once with kInterrupted and takes the line of a progress bar away.
void end_on_interrupt();
// For where the results are in their files: the status of Ctrl-C would say that they are not.
void ignore_interrupts();
// Where memory runs out, one line says so, and the program ends with kFailure.
void end_without_memory();
// kAuto: colours on a terminal, unless NO_COLOR is set (https://no-color.org).
void set_color(Color color);

void print(std::string_view text);
// What is neither result nor finding, on standard error.
void print_note(std::string_view text);
// "error: ..." on standard error; text from outside is made visible.
void print_error(std::string_view message);
// The findings of a run, on standard error.
void print_findings(const diagnostics::Sources& sources,
                    const diagnostics::Diagnostics& diagnostics);
// The same as text for standard output.
std::string render_findings(const diagnostics::Sources& sources,
                            const diagnostics::Diagnostics& diagnostics);

// `status`; with a message, and at least kFailure, when something printed has not arrived (a full
// disk).
int finish(int status);
bool has_lost_output();

}  // namespace sardonyx::cli
