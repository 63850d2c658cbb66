// A certificate authority, a server certificate for 127.0.0.1 and a client certificate, made by openssl for one test.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TestCertificates extends Disposable {
  readonly directory: string;
  /** PEM texts. */
  readonly ca: string;
  readonly client: { readonly cert: string; readonly key: string };
  /** Paths, for a server's configuration. */
  readonly files: { readonly ca: string; readonly cert: string; readonly key: string };
}

const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** `names`: what the server's certificate is for, as openssl writes it. */
export const createTestCertificates = (names = "IP:127.0.0.1,DNS:localhost"): TestCertificates => {
  const directory = mkdtempSync(join(tmpdir(), "toolplane-certificates-"));
  const at = (name: string): string => join(directory, name);
  const openssl = (...args: readonly string[]): void => {
    execFileSync("openssl", args, { stdio: "ignore" });
  };
  const ca = at("ca.pem");
  openssl("req", "-x509", ...KEY, "-days", "2", "-subj", "/CN=test authority", "-keyout", at("ca.key"), "-out", ca);
  writeFileSync(at("names"), `subjectAltName=${names}\n`);
  for (const name of ["server", "client"]) {
    openssl("req", ...KEY, "-subj", `/CN=${name}`, "-keyout", at(`${name}.key`), "-out", at(`${name}.csr`));
    const signing = ["-CA", ca, "-CAkey", at("ca.key"), "-CAcreateserial", "-days", "2", "-extfile", at("names")];
    openssl("x509", "-req", "-in", at(`${name}.csr`), ...signing, "-out", at(`${name}.pem`));
  }
  const text = (name: string): string => readFileSync(at(name), "utf8");
  return {
    directory,
    ca: text("ca.pem"),
    client: { cert: text("client.pem"), key: text("client.key") },
    files: { ca, cert: at("server.pem"), key: at("server.key") },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
};
