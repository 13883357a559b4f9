// Listens to the server, and goes on listening: a page that is started again is found again.
const FIRST_MS = 1000, MOST_MS = 15000;
// The server says every 15 seconds that it is there; a connection that died in silence says nothing.
const SILENT_MS = 40000;
const CUT_OFF_MS = 2500;

export class LiveStream {
  // onMessage: takes what is told; onGap: all must be loaded; onChange: cut off, or back
  constructor(address, onMessage, onGap, onChange) {
    Object.assign(this, { address, onMessage, onGap, onChange });
    this.wait = FIRST_MS; this.heard = this.lost = Date.now();
    setInterval(() => { if (this.source && Date.now() - this.heard > SILENT_MS) this.retry(); }, 5000);
    // A tab that was asleep, or a machine that was, looks at once.
    const wake = () => { if (!this.source && !document.hidden) { this.wait = FIRST_MS; this.listen(); } };
    document.addEventListener("visibilitychange", wake);
    window.addEventListener("online", wake);
  }

  get isCutOff() { return this.lost > 0 && Date.now() - this.lost > CUT_OFF_MS; }

  listen() {
    clearTimeout(this.timer);
    if (this.source) this.source.close();
    this.heard = Date.now();
    this.source = new EventSource(this.address);
    this.source.onmessage = (event) => { this.heard = Date.now(); this.onMessage(JSON.parse(event.data)); };
    let isNew = true;
    this.source.addEventListener("alive", () => {
      this.heard = Date.now();
      if (!isNew) return;
      isNew = false;
      this.wait = FIRST_MS; this.lost = 0;
      this.onChange(); this.onGap();
    });
    // Browsers differ in when they try again by themselves, and some errors end a stream for good.
    this.source.onerror = () => this.retry();
  }

  retry() {
    this.source.close(); this.source = null;
    this.lost = this.lost || Date.now();
    this.timer = setTimeout(() => this.listen(), this.wait);
    this.wait = Math.min(2 * this.wait, MOST_MS);
    this.onChange(); this.onGap(); // where only the stream is refused, by too many readers or a proxy
  }
}
