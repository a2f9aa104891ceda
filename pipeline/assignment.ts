/**
 * Things to places with fixed room, at the least total cost: the transportation problem.
 *
 * Everything starts where it is cheapest. As long as one place is over-full, one thing is moved out of an over-full place
 * into a free one along the cheapest chain of moves (successive shortest paths with Dijkstra's algorithm and potentials). The
 * result is optimal, so it depends on the costs only and hardly changes when they hardly change.
 */

/** What is to be placed where. */
export interface AssignmentProblem {
  /** How many things there are. */
  readonly things: number;
  /** How much room each place has; the sum is `things`. */
  readonly room: readonly number[];
  /** Integer costs, thing by thing: `costs[thing * places + place]`. */
  readonly costs: Int32Array;
}

/** Cheapest single move from each place to each other one. */
interface Moves {
  /** `cost[from * places + to]`, Infinity where there is none. */
  readonly cost: Float64Array;
  readonly thing: Int32Array;
}

const cheapestPlaces = ({ things, room, costs }: AssignmentProblem): Int32Array => {
  const places = room.length;
  const placeOf = new Int32Array(things);
  for (let thing = 0; thing < things; thing++) {
    const row = thing * places;
    let best = 0;
    for (let place = 1; place < places; place++) if (costs[row + place]! < costs[row + best]!) best = place;
    placeOf[thing] = best;
  }
  return placeOf;
};

const updateMovesFrom = (from: number, problem: AssignmentProblem, placeOf: Int32Array, moves: Moves): void => {
  const { things, costs } = problem;
  const places = problem.room.length;
  const cheapest = moves.cost.subarray(from * places, (from + 1) * places).fill(Number.POSITIVE_INFINITY);
  const mover = moves.thing.subarray(from * places, (from + 1) * places);
  for (let thing = 0; thing < things; thing++) {
    if (placeOf[thing] !== from) continue;
    const at = thing * places;
    const here = costs[at + from]!;
    for (let to = 0; to < places; to++) {
      const extra = costs[at + to]! - here;
      if (extra < cheapest[to]!) {
        cheapest[to] = extra;
        mover[to] = thing;
      }
    }
  }
};

/** The cheapest chain from an over-full place to one with room, as the places it visits, last one first. */
const cheapestChain = (excess: readonly number[], moves: Moves, potential: Float64Array): readonly number[] => {
  const places = excess.length;
  const distance = new Float64Array(places).fill(Number.POSITIVE_INFINITY);
  const before = new Int32Array(places).fill(-1);
  excess.forEach((n, p) => {
    if (n > 0) distance[p] = 0;
  });
  const done = new Uint8Array(places);
  for (;;) {
    let nearest = -1;
    let reached = Number.POSITIVE_INFINITY;
    for (let p = 0; p < places; p++) {
      if (done[p] === 0 && distance[p]! < reached) {
        nearest = p;
        reached = distance[p]!;
      }
    }
    if (excess[nearest]! < 0) {
      // Places farther away count as being here: keeps all reduced costs from becoming negative.
      for (let p = 0; p < places; p++) potential[p] = potential[p]! + Math.min(distance[p]!, reached);
      const chain = [nearest];
      for (let p = before[nearest]!; p >= 0; p = before[p]!) chain.push(p);
      return chain;
    }
    done[nearest] = 1;
    const offset = reached + potential[nearest]!;
    const row = nearest * places;
    for (let p = 0; p < places; p++) {
      const through = offset + moves.cost[row + p]! - potential[p]!;
      if (through < distance[p]!) {
        distance[p] = through;
        before[p] = nearest;
      }
    }
  }
};

/** The place of every thing. */
export const assign = (problem: AssignmentProblem): Int32Array => {
  const places = problem.room.length;
  const placeOf = cheapestPlaces(problem);
  const excess = problem.room.map((room) => -room);
  for (const place of placeOf) excess[place]!++;
  const moves = { cost: new Float64Array(places * places), thing: new Int32Array(places * places) };
  for (let place = 0; place < places; place++) updateMovesFrom(place, problem, placeOf, moves);
  // All sources start at potential 0, where every move costs at least 0 because all things are where they are cheapest.
  const potential = new Float64Array(places);
  while (excess.some((n) => n > 0)) {
    const chain = cheapestChain(excess, moves, potential);
    const things = chain.slice(1).map((from, i) => moves.thing[from * places + chain[i]!]!);
    things.forEach((thing, i) => {
      placeOf[thing] = chain[i]!;
    });
    excess[chain[0]!]!++;
    excess[chain.at(-1)!]!--;
    for (const place of chain) updateMovesFrom(place, problem, placeOf, moves);
  }
  return placeOf;
};
