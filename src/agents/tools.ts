// The tool names of Gemini CLI 0.61 as an agent file may list them. No libraries, because hooks load it.

/** The CLI drops an agent that lists a name outside this set, an alias or a pattern below. */
const builtins: ReadonlySet<string> = new Set([
  "activate_skill",
  "ask_user",
  "complete_task",
  "enter_plan_mode",
  "exit_plan_mode",
  "get_internal_docs",
  "glob",
  "google_web_search",
  "grep_search",
  "invoke_agent",
  "list_directory",
  "list_mcp_resources",
  "read_file",
  "read_many_files",
  "read_mcp_resource",
  "replace",
  "run_shell_command",
  "tracker_add_dependency",
  "tracker_create_task",
  "tracker_get_task",
  "tracker_list_tasks",
  "tracker_update_task",
  "tracker_visualize",
  "update_topic",
  "web_fetch",
  "write_file",
  "write_todos",
]);

/** Names in the design documents that the CLI has since changed. */
const aliases: ReadonlyMap<string, string> = new Map([
  ["search_file_content", "grep_search"],
  ["web_search", "google_web_search"],
]);

/** In a `tools:` list: every tool of the CLI. */
export const everyTool = "*";

// mcp_*, mcp_<server>_*, mcp_<server>_<tool>: the server ends at the first underscore, and the tool is not only underscores.
const mcpTool = /^mcp_(?:\*|[a-z0-9.:-]+_(?:\*|_*[a-z0-9.:-][a-z0-9_.:-]*))$/i;

/** The current name of a tool. */
export function canonicalTool(tool: string): string {
  return aliases.get(tool) ?? tool;
}

/** Whether an agent may list it at all, regardless of its tier. */
export function isKnownTool(tool: string): boolean {
  return (
    tool === everyTool || builtins.has(canonicalTool(tool)) || mcpTool.test(tool) || tool.startsWith("discovered_tool_")
  );
}
