/** What the run has said, newest first. */

import { useEffect } from "preact/hooks";
import { clockText } from "../words";
import { Empty } from "./controls";
import { Icon } from "./icons";
import { useModel, useSession } from "./session";

export function MessagesView() {
  const session = useSession();
  const { state } = useModel();
  const messages = [...(state?.messages ?? [])].reverse();
  const newest = messages[0]?.time ?? 0;
  useEffect(() => session.change((model) => ({ ...model, readUntil: Math.max(model.readUntil, newest) })), [newest]);
  return (
    <section class="card filling" aria-labelledby="messages-title">
      <header class="card-header">
        <h2 id="messages-title">Messages</h2>
        <span class="muted">newest first</span>
      </header>
      {messages.length === 0 ? (
        <Empty icon="info" title="No message yet">
          What the run has to say appears here.
        </Empty>
      ) : (
        <ol class="messages scroll" data-testid="messages">
          {messages.map((one, index) => (
            <li class={`message ${one.level}`} key={`${one.time} ${index}`}>
              <Icon name={one.level} />
              <time class="muted numbers">{clockText(one.time)}</time>
              <span>
                <span class="unseen">{one.level}: </span>
                {one.text}
              </span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
