// Agents: what runs their turns (worker), what thinks for them (brains), and the tools with which they manage each other (pmo).

export {};
