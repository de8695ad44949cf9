import { describe, expect, test } from "vitest";
import { canonicalTool, isKnownTool } from "./tools.ts";

describe("tool names (I117, C28)", () => {
  test.each([
    // the list of the design document
    "read_file",
    "glob",
    "search_file_content",
    "write_file",
    "replace",
    "run_shell_command",
    "google_web_search",
    // current names and the other old one
    "grep_search",
    "list_directory",
    "web_fetch",
    "web_search",
    "read_many_files",
    // patterns
    "*",
    "mcp_*",
    "mcp_maestro_*",
    "mcp_maestro_maestro_session_read",
    "mcp_my-server.1_Tool:x",
    "discovered_tool_lint",
  ])("%j is known", (tool) => {
    expect(isKnownTool(tool)).toBe(true);
  });

  test.each([
    "",
    "edit_file",
    "Read_File",
    " read_file",
    "read_*",
    "**",
    "mcp_",
    "mcp_server",
    "mcp_server_",
    "mcp_server___",
    "mcp__server_tool",
    "mcp_*_tool",
    "mcp_server_to ol",
    "constructor",
  ])("%j is not known", (tool) => {
    expect(isKnownTool(tool)).toBe(false);
  });

  test.each([
    ["search_file_content", "grep_search"],
    ["web_search", "google_web_search"],
    ["read_file", "read_file"],
    ["no_such_tool", "no_such_tool"],
  ])("%j is now called %j", (tool, current) => {
    expect(canonicalTool(tool)).toBe(current);
  });
});
