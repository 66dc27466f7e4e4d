// How many damaged inputs a fuzz test tries: a fixed share in `npm test`, that share times OUTRIDER_FUZZ in `npm run fuzz`.
export const inputs = (share: number): number => share * Math.max(1, Number(process.env.OUTRIDER_FUZZ ?? 1));

/** The slowest input of a fuzz test, in milliseconds of processor time. */
export class Stopwatch {
  slowest = 0;
  #start = process.cpuUsage();

  begin(): void {
    this.#start = process.cpuUsage();
  }

  end(): void {
    const { user, system } = process.cpuUsage(this.#start);
    this.slowest = Math.max(this.slowest, (user + system) / 1000);
  }
}
