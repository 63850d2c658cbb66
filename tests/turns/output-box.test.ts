// The output box of a turn: what its steps and its end append to it.

import { stepIdOf } from "@toolplane/engine";
import { expect, test } from "vitest";
import { addAgent, plainCard, startTurnWorld, takeTurn } from "./turn-world.ts";

test("[UTP-4.6-E3] steps and the end are appended in order, behind what the box had; a card may be in it twice", async () => {
  await using t = await startTurnWorld();
  const box = await t.engine.boxes.createBox(t.projectId, ["earlier", "note"]);
  const work = await takeTurn(t, { outputBoxId: box });
  const entries = ["first", "note"].map((cardId) => ({ card: plainCard(work, cardId) }));
  await t.engine.turns.commitStep(work, { stepId: stepIdOf(work.agentTurnId, 1), entries });
  const end = await t.engine.turns.finish({ ...work, stepCount: 1 }, { status: "success", deliverable: "done" });
  const stored = await t.engine.boxes.loadBox(t.projectId, box);
  expect(stored?.cardIds).toEqual(["earlier", "note", "first", "note", end.deliverableCardId]);
  expect(stored?.length).toBe(5);
});

test("[UTP-4.6-E7] steps that two processes commit at the same moment are appended once each, in one order", async () => {
  await using t = await startTurnWorld();
  const engines = [t.engine, await t.another()];
  const agents = Array.from({ length: 6 }, (_, index) => `agent_${index}`);
  for (const agentId of agents) await addAgent(t, agentId);
  const works = await Promise.all(agents.map((agentId) => takeTurn(t, { agentId })));
  const steps = [1, 2, 3, 4];
  for (const step of steps) {
    // A repetition is answered with what was written.
    const commits = works.flatMap((work) =>
      engines.map(({ turns }) =>
        turns.commitStep(
          { ...work, stepCount: step - 1 },
          {
            stepId: stepIdOf(work.agentTurnId, step),
            entries: ["a", "b"].map((part) => ({ card: plainCard(work, `${work.agentId}-${step}-${part}`) })),
          },
        ),
      ),
    );
    await Promise.all(commits);
  }
  for (const { agentId, outputBoxId } of works) {
    const places = await t.rows(
      "select position::int, card_id from cards.box_cards where box_id = $1 order by position",
      [outputBoxId],
    );
    const expected = steps.flatMap((step) => [`${agentId}-${step}-a`, `${agentId}-${step}-b`]);
    expect(places).toEqual(expected.map((card_id, position) => ({ position, card_id })));
    expect(await t.engine.boxes.loadBox(t.projectId, outputBoxId)).toMatchObject({ cardIds: expected, length: 8 });
  }
});
