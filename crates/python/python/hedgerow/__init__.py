"""Whole file trees, fast: walks, Git working trees and packs, SquashFS images."""

from __future__ import annotations

from ._hedgerow import __version__

__all__ = ["__version__"]
