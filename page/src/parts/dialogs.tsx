/** What asks for an answer, or shows something large, above the page. */

import { EXPORT_FORMATS, type ExportFormat } from "../contract";
import { SHORTCUTS } from "../keyboard";
import { MergeDialog, RenameDialog } from "./classDialogs";
import { Icon } from "./icons";
import { ForgetDialog, LookDialog } from "./memoryDialogs";
import { Modal } from "./modal";
import { useModel, useSession } from "./session";

export function Dialogs() {
  const { dialog } = useModel();
  switch (dialog?.kind) {
    case "help":
      return <HelpDialog />;
    case "export":
      return <ExportDialog />;
    case "rename":
      return <RenameDialog key={dialog.name} name={dialog.name} />;
    case "merge":
      return <MergeDialog key={dialog.name} name={dialog.name} />;
    case "look":
      return <LookDialog frame={dialog.frame} />;
    case "forget":
      return <ForgetDialog frame={dialog.frame} />;
    default:
      return null;
  }
}

function HelpDialog() {
  return (
    <Modal title="Keys" isWide>
      <div class="help">
        {SHORTCUTS.map(({ title, shortcuts }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {shortcuts.map(({ keys, what }) => (
                <div key={what}>
                  <dt>
                    {keys.map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  );
}

const FORMATS: Record<ExportFormat, { title: string; text: string }> = {
  onnx: { title: "ONNX", text: "Runs in ONNX Runtime and many other programs." },
  torchscript: { title: "TorchScript", text: "Runs in PyTorch without this package." },
  safetensors: { title: "safetensors", text: "The weights alone, to start another run from." },
};

function ExportDialog() {
  const session = useSession();
  const { state, waiting } = useModel();
  const isExporting = waiting.some(({ type }) => type === "export");
  const files = state?.exports ?? [];
  return (
    <Modal title="Export the detector">
      <ul class="formats">
        {EXPORT_FORMATS.map((format) => (
          <li key={format}>
            <button
              type="button"
              class="format"
              data-testid={`export-${format}`}
              disabled={isExporting}
              onClick={() => session.exportAs(format)}
            >
              <strong>{FORMATS[format].title}</strong>
              <span class="muted">{FORMATS[format].text}</span>
            </button>
          </li>
        ))}
      </ul>
      <h3>{isExporting ? "Exporting…" : "Exported files"}</h3>
      {files.length === 0 && <p class="muted">None yet.</p>}
      <ul class="files" data-testid="exports">
        {files.map((file) => (
          <li key={file}>
            <a href={`/api/exports/${encodeURIComponent(file)}`} download={file}>
              <Icon name="download" />
              {file}
            </a>
          </li>
        ))}
      </ul>
    </Modal>
  );
}
