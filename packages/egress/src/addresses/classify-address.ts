// The kind of an IP address. Fail closed: only a known public unicast address counts as public; an unknown range is refused.

import ipaddr from "ipaddr.js";

/**
 * public: reachable from the whole internet.
 * local: this machine or its own networks. The operator of the plane may allow it.
 * never: metadata services, link-local, multicast, documentation, tunnels and the like. Nothing allows it.
 */
export type AddressKind = "public" | "local" | "never";

export interface ClassifiedAddress {
  readonly kind: AddressKind;
  /** In words, for a sentence: "a loopback address". */
  readonly what: string;
  /** One spelling for one address; an IPv4 address inside an IPv6 one is unpacked. */
  readonly address: string;
  readonly family: 4 | 6;
}

type Parsed = ReturnType<typeof ipaddr.parse>;

/** Metadata services of cloud providers, which give credentials to any caller. Some have addresses that look public or private. */
const METADATA: ReadonlySet<string> = new Set([
  "169.254.169.254",
  "169.254.170.2",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "fd00:ec2::254",
  "fd20:ce::254",
]);

/** What an operator may allow, by the names that ipaddr.js gives. */
const LOCAL: Readonly<Record<string, string>> = {
  loopback: "a loopback address",
  private: "a private address",
  uniqueLocal: "a private address",
  carrierGradeNat: "an address of a shared network",
};

/** Global unicast; addresses outside of it are not assigned. */
const GLOBAL_V6 = ipaddr.IPv6.parseCIDR("2000::/3");
/** NAT64: the last 32 bits are an IPv4 address that a gateway connects to. Networks without IPv4 use it for everything. */
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

const lastIPv4 = (address: ipaddr.IPv6): ipaddr.IPv4 => new ipaddr.IPv4(address.toByteArray().slice(12));

/** The IPv4 address that a connection would end at, if the IPv6 one only carries it. */
const unpack = (address: Parsed): Parsed => {
  if (address.kind() === "ipv4") return address;
  const v6 = address as ipaddr.IPv6;
  if (v6.isIPv4MappedAddress()) return v6.toIPv4Address();
  return v6.match(NAT64) ? lastIPv4(v6) : v6;
};

const rangeOf = (address: Parsed): string => {
  const range = address.range();
  if (range !== "unicast" || address.kind() === "ipv4") return range;
  return (address as ipaddr.IPv6).match(GLOBAL_V6) ? range : "reserved";
};

/** Undefined for what is not an address; such as a host name. IPv6 without brackets. */
export const tryClassifyAddress = (text: string): ClassifiedAddress | undefined => {
  // A zone ("fe80::1%eth0") belongs to one machine's interfaces.
  if (text.includes("%") || !(ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text))) return undefined;
  const parsed = ipaddr.parse(text);
  const meant = unpack(parsed);
  const address = meant.toString();
  const family = meant.kind() === "ipv4" ? 4 : 6;
  if (METADATA.has(address)) return { kind: "never", what: "the address of a metadata service", address, family };
  const range = rangeOf(meant);
  if (range === "unicast") return { kind: "public", what: "a public address", address, family };
  const local = Object.hasOwn(LOCAL, range) ? LOCAL[range] : undefined;
  return local === undefined
    ? { kind: "never", what: "an address that no policy allows", address, family }
    : { kind: "local", what: local, address, family };
};
