-- A session of Neovim (0.7 or newer, headless) with `sardonyx lsp`; editor/test_lsp.py compares what it prints.
local id = vim.lsp.start_client({ name = "sardonyx", cmd = { vim.env.SARDONYX, "lsp" } })
vim.cmd("edit script.py")
vim.lsp.buf_attach_client(0, id)

local function say(...) io.stdout:write(string.format(...) .. "\n") end
local function ask(method, line, character)
  local position = { line = line, character = character }
  local params = {
    textDocument = vim.lsp.util.make_text_document_params(),
    position = position,
    range = { start = position, ["end"] = position },
    context = { diagnostics = {} },
  }
  return vim.lsp.buf_request_sync(0, method, params, 20000)[id].result
end
local function wait_for(count)
  vim.wait(20000, function() return #vim.diagnostic.get(0) == count end)
  for _, one in ipairs(vim.diagnostic.get(0)) do
    say("%d:%d-%d:%d %s", one.lnum, one.col, one.end_lnum, one.end_col, one.message:gsub("\n.*", ""))
  end
end

wait_for(2)
local hover = ask("textDocument/hover", 5, 12)
say("hover: %s", vim.lsp.util.convert_input_to_markdown_lines(hover.contents)[2])
local list = ask("textDocument/completion", 5, 13)
local items = vim.lsp.util.text_document_completion_list_to_complete_items(list, "So")
say("completion: %s, %s ... %s leads to %s", items[1].word, items[2].word, items[#items].abbr, items[#items].word)
local help = ask("textDocument/signatureHelp", 5, 20)
say("signature: %s", vim.lsp.util.convert_signature_help_to_markdown_lines(help, "python")[2])
local action = ask("textDocument/codeAction", 6, 12)[1]
vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
say("%s: %s", action.title, vim.fn.getline(7))
wait_for(1)
vim.fn.setline(6, "    y = op.Softmax(X, axis=1)")
wait_for(0)
say("definition: line %d", ask("textDocument/definition", 7, 11).range.start.line)
vim.lsp.stop_client(id)
vim.wait(20000, function() return vim.lsp.client_is_stopped(id) end)
say("stopped: %s", tostring(vim.lsp.client_is_stopped(id)))
vim.cmd("qa!")
