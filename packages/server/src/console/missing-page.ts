// What a browser sees at / while no console is built.

const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Toolplane</title></head>
<body>
<h1>Toolplane is running</h1>
<p>The console is not built. In a checkout of the repository, run <code>npm run build -w @toolplane/console</code>,
then reload this page. An installed server gets it with <code>npm install @toolplane/console</code>.</p>
<p>Without the console, everything can be done with the command line: <code>toolplane help</code>.
The HTTP API is described in <code>docs/reference/http-api.md</code>.</p>
</body>
</html>
`;

export const missingPage = (): string => page;
