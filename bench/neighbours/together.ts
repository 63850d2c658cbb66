// Sends together what is asked for in the same moment: while one batch is on its way the next one gathers.

export const sendTogether = <Item>(
  send: (items: readonly Item[]) => Promise<void>,
): ((item: Item) => Promise<void>) => {
  let gathering: { readonly items: Item[]; readonly sent: Promise<void> } | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return (item) => {
    if (gathering !== undefined) {
      gathering.items.push(item);
      return gathering.sent;
    }
    const items = [item];
    const sent = last.then(() => {
      gathering = undefined;
      return send(items);
    });
    gathering = { items, sent };
    last = sent.catch(() => undefined);
    return sent;
  };
};
