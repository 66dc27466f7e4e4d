// Files and folders dropped anywhere on the page.

const inside = async (folder: FileSystemDirectoryEntry): Promise<File[]> => {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) break;
    entries.push(...some);
  }
  const files = entries.filter((entry) => entry.isFile) as FileSystemFileEntry[];
  return Promise.all(files.map((file) => new Promise<File>((resolve, reject) => file.file(resolve, reject))));
};

/** Files, and the files directly inside dropped folders. */
const droppedFiles = async (transfer: DataTransfer | null): Promise<File[]> => {
  const entries = [...(transfer?.items ?? [])].map((item) => item.webkitGetAsEntry());
  const files = [...(transfer?.files ?? [])];
  const found = await Promise.all(
    entries.map((entry, i) => (entry?.isDirectory ? inside(entry as FileSystemDirectoryEntry) : [files[i]])),
  );
  return found.flat().filter((file) => file !== undefined);
};

const isFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') ?? false;

/** Calls `over` while files are dragged over the page, and `take` when they are dropped. */
export const onDrop = (over: () => void, take: (files: readonly File[]) => void): void => {
  const { body } = document;
  body.addEventListener('dragover', (event) => {
    if (!isFiles(event)) return; // dragged text
    event.preventDefault();
    over();
    body.classList.add('dragging');
  });
  body.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) body.classList.remove('dragging');
  });
  body.addEventListener('drop', (event) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    body.classList.remove('dragging');
    void droppedFiles(event.dataTransfer).then(take);
  });
};
