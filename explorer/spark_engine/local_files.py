"""Local files as Spark writes them here: without a process for each, and without a .crc file beside each."""

from __future__ import annotations

from typing import Any

CLASS = "explorer.LocalFiles"
JAVA = """
package explorer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

public class LocalFiles extends LocalFileSystem {
  public LocalFiles() {
    super(new Raw());
  }

  public static class Raw extends RawLocalFileSystem {
    /** Whether a file has bits that Java does not set and would take away, as folders of a group have. */
    private static boolean hasMore(java.nio.file.Path file) throws IOException {
      Integer mode = (Integer) Files.getAttribute(file, "unix:mode", new LinkOption[0]);
      return (mode.intValue() & 07000) != 0;
    }

    public void setPermission(Path path, FsPermission permission) throws IOException {
      java.nio.file.Path file;
      try {
        file = pathToFile(path).toPath();
      } catch (InvalidPathException error) {
        throw new IOException(error);
      }
      Object view = Files.getFileAttributeView(file, PosixFileAttributeView.class, new LinkOption[0]);
      if (view == null || permission.getStickyBit() || hasMore(file)) {
        super.setPermission(path, permission);
      } else {
        ((PosixFileAttributeView) view).setPermissions(PosixFilePermissions.fromString(permission.toString()));
      }
    }
  }
}
"""
"""Hadoop's own, but for one call: where it has no native library, as in pyspark's wheel, it starts chmod for each file
and each folder that it makes (ADR 2)."""


def write_plainly(jvm: Any, settings: Any) -> None:
    """Have Hadoop write local files so, by a class that Spark's own compiler makes, and with these settings of its own
    (a Configuration). A process has one file system for them: the one that Spark has asked for by now gives way."""
    hadoop = jvm.org.apache.hadoop
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.cook(JAVA)
    conf = hadoop.conf.Configuration(settings)
    hadoop.fs.FileSystem.getLocal(conf).close()
    conf.setClassLoader(compiler.getClassLoader())
    conf.set("fs.file.impl", CLASS)
    hadoop.fs.FileSystem.getLocal(conf).setWriteChecksum(False)
