"""Configurations as the clients write them, each with the place that it stands at."""

CLAUDE_CODE = """{
  "numStartups": 41,
  "oauthAccount": {
    "emailAddress": "amy@example.com"
  },
  "projects": {
    "%(work)s": {
      "allowedTools": [],
      "mcpServers": {
        "files": {
          "type": "stdio",
          "command": "npx",
          "args": ["-y", "@modelcontextprotocol/server-filesystem", "."],
          "env": {}
        }
      },
      "disabledMcpServers": ["search"]
    },
    "/srv/other": {
      "mcpServers": {
        "else": {"command": "else"}
      }
    }
  },
  "mcpServers": {
    "git": {
      "type": "stdio",
      "command": "uvx",
      "args": ["mcp-server-git"],
      "env": {"GIT_TOKEN": "${GIT_TOKEN:-none}"}
    },
    "search": {
      "type": "http",
      "url": "https://search.example.com/mcp",
      "headers": {"Authorization": "Bearer sk-live-abcdefghijklmnop"}
    }
  },
  "tipsHistory": {"shift-enter": 12}
}
"""

MCP_JSON = """{
  "mcpServers": {
    "tickets": {
      "command": "${TICKETS:-tickets}",
      "args": ["--root", "."]
    }
  }
}
"""

CLAUDE_DESKTOP = """{
    "globalShortcut": "Ctrl+Space",
    "mcpServers": {
        "git": {
            "command": "/usr/local/bin/uvx",
            "args": ["mcp-server-git"],
            "env": {"GIT_TOKEN": "very-secret-token"}
        },
        "odd": {
            "command": "odd",
            "args": ["${HOME}"]
        }
    }
}
"""

CURSOR = """{
\t// what I use every day
\t"mcpServers": {
\t\t"git": {
\t\t\t"command": "uvx",
\t\t\t"args": ["mcp-server-git"],
\t\t\t"env": { "GIT_TOKEN": "${env:GIT_TOKEN}" }
\t\t},
\t\t"here": { "command": "here", "args": ["${workspaceFolder}"] }
\t}
}
"""

VSCODE = """{
  // asked for once
  "inputs": [
    { "type": "promptString", "id": "api-key", "description": "Key", "password": true },
  ],
  "servers": {
    "tickets": {
      "type": "http",
      "url": "https://tickets.example.com/mcp",
      "headers": { "Authorization": "Bearer ${input:api-key}" },
    },
    "build": {
      "type": "stdio",
      "command": "node",
      "args": ["${workspaceFolder}/server.js"],
      "envFile": "${workspaceFolder}/.env",
    },
  },
}
"""

GEMINI = """{
  "theme": "GitHub",
  "mcp": { "excluded": ["old"] },
  "mcpServers": {
    "search": {
      "httpUrl": "https://search.example.com/mcp",
      "headers": { "Authorization": "Bearer $SEARCH_TOKEN" },
      "timeout": 5000
    },
    "files": {
      "command": "npx",
      "args": ["-y", "files", "$HOME"],
      "includeTools": ["read_file"]
    },
    "old": { "command": "old" }
  }
}
"""
