/** The few file operations the store is built of, each durable when it resolves. Tests put failing ones in their place. */
import { type FileHandle, link, open, readdir, readFile, rename, rm } from "node:fs/promises";

/** A file that grows at its end. */
export interface AppendFile {
  /** Resolves when the bytes are on stable storage. */
  append(data: Buffer): Promise<void>;
  /** Cuts the file off; resolves when that is on stable storage. */
  truncate(length: number): Promise<void>;
  close(): Promise<void>;
}

export interface Disk {
  /** @returns undefined when there is no such file */
  read(path: string): Promise<Buffer | undefined>;
  list(folder: string): Promise<readonly string[]>;
  /** Creates or empties the file and fills it. */
  write(path: string, data: string): Promise<void>;
  append(path: string): Promise<AppendFile>;
  rename(from: string, to: string): Promise<void>;
  /** Gives a file a second name, taking it from any file that has it. */
  alias(path: string, name: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Makes names that came, went or changed in the folder durable. */
  syncFolder(folder: string): Promise<void>;
}

/** The `code` of a failed system call, such as "ENOSPC". */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;

const using = async <T>(file: FileHandle, work: (file: FileHandle) => Promise<T>): Promise<T> => {
  try {
    return await work(file);
  } finally {
    await file.close();
  }
};

const writeAll = async (file: FileHandle, data: Buffer): Promise<void> => {
  for (let at = 0; at < data.length; ) at += (await file.write(data, at)).bytesWritten;
};

const appendFile = (file: FileHandle): AppendFile => ({
  append: async (data) => {
    await writeAll(file, data);
    await file.datasync();
  },
  truncate: async (length) => {
    await file.truncate(length);
    await file.datasync();
  },
  close: () => file.close(),
});

/** The real thing. */
export const nodeDisk: Disk = {
  read: async (path) => {
    try {
      return await readFile(path);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      throw error;
    }
  },
  list: (folder) => readdir(folder),
  write: async (path, data) =>
    using(await open(path, "w", 0o600), async (file) => {
      await writeAll(file, Buffer.from(data));
      await file.sync();
    }),
  append: async (path) => appendFile(await open(path, "a", 0o600)),
  rename: (from, to) => rename(from, to),
  alias: async (path, name) => {
    const temporary = `${name}.tmp`;
    await rm(temporary, { force: true });
    await link(path, temporary);
    await rename(temporary, name);
  },
  remove: (path) => rm(path, { force: true }),
  syncFolder: async (folder) => using(await open(folder, "r"), (file) => file.sync()),
};
