"""Named channels beside colour, kept up to date and sampled in one launch."""

from __future__ import annotations

from pysaccade.tensors._channel_makers import MAKERS, Maker, Slot, slot
from pysaccade.tensors.channels import ChannelStack, Components, components, pca

__all__ = ["MAKERS", "ChannelStack", "Components", "Maker", "Slot", "components", "pca", "slot"]
