/** The whole page. */

import { useEffect } from "preact/hooks";
import { currentRequest } from "../model";
import { AccuracyView } from "./accuracy";
import { ClassesView } from "./classes";
import { Dialogs } from "./dialogs";
import { LabelList } from "./labels";
import { LiveCard } from "./live";
import { MemoryView } from "./memory";
import { MessagesView } from "./messages";
import { useModel } from "./session";
import { BannerStrip, Counters, Notices } from "./strips";
import { TopBar } from "./topBar";
import { LabelView } from "./workbench";

const VIEWS = {
  label: LabelView,
  classes: ClassesView,
  memory: MemoryView,
  accuracy: AccuracyView,
  messages: MessagesView,
} as const;

export function App() {
  const model = useModel();
  useTheme();
  useTitle();
  const View = VIEWS[model.view];
  // Without a frame to label, the live picture has the large place; it is never shown twice.
  const isLiveLarge = model.view === "label" && (!model.state || !currentRequest(model));
  return (
    <>
      <TopBar />
      <Counters />
      <BannerStrip />
      <main class="main">
        <div class="view" id="view" role="tabpanel" aria-labelledby={`tab-${model.view}`}>
          <View />
        </div>
        <aside class="side" aria-label="Live picture and labels">
          {!isLiveLarge && <LiveCard />}
          <LabelList />
        </aside>
      </main>
      <Notices />
      <Dialogs />
    </>
  );
}

function useTheme(): void {
  const { theme } = useModel();
  useEffect(() => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }, [theme]);
}

/** The tab of the browser says how many frames wait, for whoever looks elsewhere. */
function useTitle(): void {
  const { state } = useModel();
  const waiting = state?.requests.length ?? 0;
  const name = state?.run.name ?? "";
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${name ? `${name} – ` : ""}leocod live`;
  }, [waiting, name]);
}
