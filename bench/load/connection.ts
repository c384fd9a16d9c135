import net from 'node:net';

const HEAD_END = '\r\n\r\n';

/** One keep-alive connection that has one request under way at a time. By hand: a client of Node's costs more than what it asks. */
export class Connection {
  readonly port: number;
  readonly #socket: net.Socket;
  #answer = '';
  #settle: ((status: number) => void) | undefined;

  private constructor(port: number, socket: net.Socket) {
    this.port = port;
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.#read(text));
    socket.on('error', () => {});
    socket.on('close', () => this.#end(0));
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(port, '127.0.0.1');
      socket.once('error', reject);
      socket.once('connect', () => resolve(new Connection(port, socket)));
    });
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /** @returns the status; 0 when the connection was closed instead */
  send(request: Buffer): Promise<number> {
    if (!this.isOpen) return Promise.resolve(0);
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(text: string): void {
    this.#answer += text;
    const head = this.#answer.indexOf(HEAD_END);
    if (head < 0) return;
    const length = /content-length: (\d+)/i.exec(this.#answer)?.[1] ?? '0';
    if (this.#answer.length < head + HEAD_END.length + Number(length)) return;
    this.#end(Number(this.#answer.slice(9, 12)));
  }

  #end(status: number): void {
    this.#answer = '';
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(status);
  }
}
