// A tool project in Python: one tool, the one file it needs, and tests of the function and on a throw-away plane. The standard library
// is enough; the plane is the command `toolplane`.

import type { ProjectPlan } from "./plan-project.ts";

const toolsProgram = (target: string): string => `import toolplane


@toolplane.tool(retry="safe")
def count_words(text: str) -> dict:
    """Count the words of a text"""
    return {"words": len(text.split())}


if __name__ == "__main__":
    toolplane.serve([count_words], target="${target}")
`;

const testProgram = (
  command: string,
): string => `"""python3 -m unittest: the function by itself, and a durable call on a plane that is thrown away afterwards."""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import tools

HERE = pathlib.Path(__file__).parent
TOOLPLANE = shlex.split(os.environ.get("TOOLPLANE", ${JSON.stringify(command)}))


class ToolTest(unittest.TestCase):
    def test_by_itself(self):
        self.assertEqual(tools.count_words.run(text="one two three"), {"words": 3})

    def test_on_a_plane(self):
        with tempfile.TemporaryDirectory() as data:
            up = subprocess.Popen(
                [*TOOLPLANE, "up", "--port", "0", "--data", data, "--demo"],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )
            service = None
            try:
                url = next(line.split()[1] for line in up.stdout if line.startswith("ready "))
                token = (pathlib.Path(data) / "token").read_text().strip()
                env = {**os.environ, "TOOLPLANE_URL": url, "TOOLPLANE_TOKEN": token}
                service = subprocess.Popen(
                    [sys.executable, HERE / "tools.py"], env=env, stderr=subprocess.PIPE, text=True
                )
                for line in service.stderr:
                    if "serving " in line:
                        break
                body = {"tool_name": "count_words", "arguments": {"text": "one two three"}, "wait_seconds": 30}
                request = urllib.request.Request(
                    f"{url}/projects/demo/calls", json.dumps(body).encode(),
                    {"authorization": f"Bearer {token}", "content-type": "application/json"},
                )
                with urllib.request.urlopen(request) as answer:
                    self.assertEqual(json.load(answer)["result"], {"words": 3})
            finally:
                for program in (service, up):
                    if program is not None:
                        program.terminate()
                        program.communicate()


if __name__ == "__main__":
    unittest.main()
`;

const COMMAND: Readonly<Record<ProjectPlan["source"], string>> = {
  registry:
    "The command `toolplane` is the plane; it is not published to npm yet. In a checkout of Toolplane `npm run pack` makes tarballs: install them here.",
  tarballs:
    "The command `toolplane` is the plane: install the tarballs that `npm run pack` made here, with `npm install DIR/*.tgz`.",
  checkout:
    "The plane is the checkout of Toolplane that made this project; the folder of the checkout must stay where it is.",
};

const readme = ({ name, target, toolplane, source }: ProjectPlan): string => `# ${name}

\`toolplane.py\` is all that a Python tool needs. ${COMMAND[source]}

\`\`\`sh
python3 -m unittest            # the function by itself, and on a throw-away plane
${toolplane} up --demo        # a plane; leave it running
\`\`\`

In another shell, in the same folder: the service and the commands find the plane of the folder \`.toolplane\` there, whatever its port. A service that runs follows the plane to another port. For a plane elsewhere set
\`TOOLPLANE_URL\`.

\`\`\`sh
export TOOLPLANE_TOKEN=$(${toolplane} token create --role tool --targets ${target})
python3 tools.py
\`\`\`

And in a third: \`${toolplane} call count_words '{"text": "one two three"}'\`
`;

export const pythonFiles = (plan: ProjectPlan, library: string): Readonly<Record<string, string>> => ({
  "README.md": readme(plan),
  ".gitignore": "__pycache__/\nnode_modules/\n.toolplane/\n",
  "toolplane.py": library,
  "tools.py": toolsProgram(plan.target),
  "test_tools.py": testProgram(plan.toolplane),
});
